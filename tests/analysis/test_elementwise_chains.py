"""Rows of elementwise kernels that could be one kernel: what is in a row, and what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from nsysan.analysis.elementwise_chains import ChainsOfDevice, ElementwiseChains
from nsysan.model.copies import CopyKind
from nsysan.synth.export import Export, KernelShape
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MS, US = 1_000_000, 1_000
STEP_COUNT = 4
ADD, GELU, DROPOUT = (
    f"void at::native::vectorized_elementwise_kernel<4, at::native::{functor}>"
    for functor in ("CUDAFunctor_add<float>", "GeluCUDAKernelImpl", "fused_dropout")
)
GEMM = "ampere_sgemm_128x64_tn"
COPY = "a copy"


class Work(NamedTuple):
    """Takes ``length_us`` on a stream."""

    name: str
    length_us: int
    blocks: int = 64
    stream: int = 7


def steps(works: Sequence[Work]) -> Export:
    """Steps of 10 ms, each with this work in a row, and a product at its begin."""
    export = Export()
    for step in range(STEP_COUNT):
        begin_ns = now_ns = step * 10 * MS
        export.nvtx(begin_ns, begin_ns + 10 * MS - 1, f"step {step}")
        for number, work in enumerate([Work(GEMM, 5_000), *works], start=1 + 100 * step):
            end_ns = now_ns + work.length_us * US
            export.call(begin_ns + number, begin_ns + number + 1, "cudaLaunchKernel_v7000", correlation=number)
            if work.name == COPY:
                kind = CopyKind.DEVICE_TO_DEVICE
                export.copy(now_ns, end_ns, 1 << 20, kind=kind, correlation=number, stream=work.stream)
            else:
                shape = KernelShape(grid=(work.blocks, 1, 1))
                export.kernel(now_ns, end_ns, work.name, correlation=number, stream=work.stream, shape=shape)
            now_ns = end_ns
    return export


@pytest.mark.parametrize(
    ("works", "chain_count", "kernel_count", "saved_us"),
    [
        # 10 + 20 + 30 us become the longest, 30
        ((Work(ADD, 10), Work(GELU, 20), Work(DROPOUT, 30)), 1, 3, 30),
        ((Work(ADD, 30), Work(GELU, 30), Work(GEMM, 90), Work(GELU, 30), Work(ADD, 10)), 2, 4, 40),
        # the same over again is done to other arrays
        ((Work(ADD, 30), Work(ADD, 30), Work(ADD, 30)), 0, 0, 0),
        ((Work(ADD, 30), Work(GELU, 30), Work(GELU, 30), Work(ADD, 30)), 2, 4, 60),
        # other sizes, and what comes between
        ((Work(ADD, 30), Work(GELU, 30, blocks=65)), 0, 0, 0),
        ((Work(ADD, 30), Work(COPY, 30), Work(GELU, 30)), 0, 0, 0),
        # of another stream
        ((Work(ADD, 30), Work(GEMM, 30, stream=8), Work(GELU, 30)), 1, 2, 30),
        ((Work(ADD, 30), Work(GELU, 30, stream=8)), 0, 0, 0),
        ((), 0, 0, 0),
    ],
)
def test_what_stands_in_a_row_could_be_one_kernel(
    tmp_path: Path, works: Sequence[Work], chain_count: int, kernel_count: int, saved_us: int
) -> None:
    found = result_of(analyze_exports(tmp_path, steps(works)), ElementwiseChains)

    # the last step has no end
    [device] = found.elementwise_chains
    closed = STEP_COUNT - 1
    assert (device.step_count, device.dram_frac) == (closed, None)
    assert (device.chain_count, device.kernel_count) == (closed * chain_count, closed * kernel_count)
    assert device.total_ns - device.longest_ns == closed * saved_us * US
    assert device.saved_ns_per_step == saved_us * US


def test_what_is_spared_is_of_a_step() -> None:
    device = ChainsOfDevice("r0/p1/d0", 4, 8, 16, total_ns=1_000, longest_ns=600, dram_frac=None)

    assert device.saved_ns_per_step == 100
