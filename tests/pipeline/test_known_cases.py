"""Cases at which other tools say something wrong, with what is right, over the whole way from file to findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.analysis.gpu_time import GpuTime
from nsysan.report.formats.text import render_text
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

MS, US = 1_000_000, 1_000
GEMM = "ampere_sgemm_128x64_tn"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096>)"


def test_a_healthy_run_gives_no_alarm(tmp_path: Path) -> None:
    # C10: 400 kernels of 1 ms, 10 us apart
    export = Export()
    for place in range(400):
        begin = place * (MS + 10 * US)
        export.call(begin, begin + 5 * US, "cudaLaunchKernel_v7000", correlation=place + 1)
        export.kernel(begin + 6 * US, begin + 6 * US + MS, GEMM, correlation=place + 1)

    run = analyze_exports(tmp_path, export)

    idle = result_of(run, GpuTime).job.time.idle
    assert idle.mean_frac == pytest.approx(399 * 10 / (400 * 1_000 + 399 * 10))
    assert f"{100 * idle.mean_frac:.2f}" == "0.99"
    assert run.findings == ()


def test_communication_and_idle_time_are_disjoint_parts_of_what_is_not_computed(tmp_path: Path) -> None:
    # C11: of 100 us 30 compute nothing, and 20 of these communicate: there are not 50 to win
    export = Export().kernel(0, 40 * US, GEMM).kernel(40 * US, 60 * US, ALL_REDUCE, stream=8)
    export.kernel(70 * US, 100 * US, GEMM)

    time = result_of(analyze_exports(tmp_path, export), GpuTime).gpus[0].time

    assert (time.exposed_communication_ns, time.idle_ns) == (20 * US, 10 * US)
    assert time.compute_only_ns == 100 * US - 30 * US


def test_what_lies_between_two_thresholds_is_told_all_the_same(tmp_path: Path) -> None:
    # C12: 40 % of the communication is hidden, and it takes about as long as the compute
    export = Export().kernel(0, 100 * US, GEMM).kernel(60 * US, 160 * US, ALL_REDUCE, stream=8)

    run = analyze_exports(tmp_path, export)

    (gpu,) = result_of(run, GpuTime).gpus
    assert gpu.overlap_frac == 0.4
    assert gpu.time.exposed_communication_ns == 60 * US
    assert gpu.time.window_ns == 160 * US
    assert "communication 0.0 to 37.5 % not known" in render_text(run)
