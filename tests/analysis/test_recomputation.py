"""Recomputation: kernels of the forward that run again in the backward, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nsysan.analysis.recomputation import (
    Recomputation,
    RecomputationOfDevice,
    compute_recomputation,
)
from nsysan.attribution.job import build_job
from nsysan.attribution.repeated_kernels import named_forward, repeated
from nsysan.cli.main import main
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.confidence import Confidence
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.stages import StageSource
from nsysan.synth.export import Export

LAUNCH = "cudaLaunchKernel_v7000"
LAYER = ("norm", "gemm", "softmax", "gemm", "gelu")
GRADIENTS = ("gelu_backward", "gemm", "gemm", "softmax_backward", "gemm", "gemm", "norm_backward")


def marks(forward: str, backward: str, names: dict[str, str]) -> str:
    """A ``!`` for each kernel of the backward that repeats; a letter is a kernel, ``names`` what some are called."""
    letters = sorted(set(forward + backward))
    name_of = np.array([letters.index(letter) for letter in forward + backward])
    in_backward = np.arange(len(name_of)) >= len(forward)
    found = repeated(name_of, in_backward, named_forward([names.get(letter, letter) for letter in letters]))
    return "".join("!" if again else "." for again in found[len(forward) :])


def test_runs_that_the_forward_has_too() -> None:
    assert marks("abcdabcd", "abcdxyz", {}) == "!!!!..."
    assert marks("abcdabcd", "zabcdyzabcdy", {}) == ".!!!!..!!!!."


def test_what_a_backward_needs_anyway_is_no_repetition() -> None:
    # too few names, too short a run
    assert marks("gggggg", "gggggg", {}) == "......"
    assert marks("abc", "abc", {}) == "..."
    # all of the run's kernels are elsewhere in the backward too
    assert marks("abcd", "dxabcdxabxc", {}) == "..........."


def test_a_kernel_that_says_it_is_of_a_forward_needs_no_run() -> None:
    names = {"f": "flash_fwd_kernel", "b": "flash_bwd_kernel", "s": "log_softmax_backward_forward_helper"}

    assert marks("gfg", "gfbgs", names) == ".!..."


def trained(recomputes: bool, *, autograd: int | None, ranges: bool) -> Export:  # noqa: FBT001 -- both are told
    """Four steps of two layers; kernels take 10 ns, one after the other, each launched just before."""
    export = Export()
    clock_ns, correlation = 100, 0

    def run(names: tuple[str, ...], tid: int | None) -> None:
        nonlocal clock_ns, correlation
        for name in names:
            correlation += 1
            export.call(clock_ns - 4, clock_ns - 2, LAUNCH, tid=tid, correlation=correlation)
            export.kernel(clock_ns, clock_ns + 10, name, correlation=correlation)
            clock_ns += 10

    for step in range(4):
        begin_ns = clock_ns - 5
        run(LAYER * 2, None)
        backward_ns = clock_ns - 5
        for _ in range(2):
            run((*(LAYER if recomputes else ()), *GRADIENTS), autograd)
        if ranges:
            export.nvtx(backward_ns, clock_ns - 5, "backward")
        run(("multi_tensor_apply_kernel<FusedAdam>",), None)
        export.nvtx(begin_ns, clock_ns - 6, f"step {step}")
    return export


def recomputation(path: Path) -> Recomputation | Skipped:
    return compute_recomputation(build_job([read_trace(path, ReadOptions())]), ResultSet({}))


@pytest.mark.parametrize(
    ("autograd", "ranges", "told_by"),
    [(None, True, StageSource.RANGES), (7, True, StageSource.RANGES), (7, False, StageSource.KERNELS)],
)
def test_the_share_of_the_steps(autograd: int | None, ranges: bool, told_by: StageSource, tmp_path: Path) -> None:  # noqa: FBT001 -- a parameter
    export = trained(recomputes=True, autograd=autograd, ranges=ranges)

    found = recomputation(export.write(tmp_path / "r.sqlite", shuffle_seed=3))

    assert isinstance(found, Recomputation), found
    # three closed steps of 10 kernels forward, 10 again and 14 of gradients, one of the optimizer: 35 of 10 ns
    assert found.recomputation == (
        RecomputationOfDevice("r0/p100/d0", told_by, Confidence.MEDIUM, 3, 3 * 10, 300, 3 * 240, 3 * 350, 300 / 1_050),
    )
    assert [(kernel.name, kernel.count, kernel.total_ns) for kernel in found.recomputed_kernels] == [
        ("gemm", 12, 120),
        ("gelu", 6, 60),
        ("norm", 6, 60),
        ("softmax", 6, 60),
    ]


def test_activations_that_are_kept(tmp_path: Path) -> None:
    found = recomputation(trained(recomputes=False, autograd=7, ranges=True).write(tmp_path / "r.sqlite"))

    assert isinstance(found, Recomputation), found
    (device,) = found.recomputation
    assert (device.recomputed_count, device.recomputed_frac, device.confidence) == (0, 0.0, None)


def test_where_nothing_tells_the_backward_it_is_not_guessed(tmp_path: Path) -> None:
    found = recomputation(trained(recomputes=True, autograd=None, ranges=False).write(tmp_path / "r.sqlite"))

    assert isinstance(found, Skipped)
    assert found.recapture == "Put the backward pass of each step in an NVTX range named backward."


def test_a_range_of_both_passes_tells_neither(tmp_path: Path) -> None:
    export = trained(recomputes=True, autograd=None, ranges=False).nvtx(0, 2_000, "forward-backward")

    assert isinstance(recomputation(export.write(tmp_path / "r.sqlite")), Skipped)


@pytest.mark.parametrize("scenario", ["recomputation", "healthy", "pipeline-bubble", "tensor-parallel", "moe-skew"])
def test_it_is_found_where_it_was_planted(scenario: str, tmp_path: Path) -> None:
    assert main(["synth", scenario, "--ranks", "4", "--steps", "3", "-o", str(tmp_path)]) == 0

    found = recomputation(tmp_path / f"{scenario}.sqlite")

    # in two closed steps the backward of each of four layers runs the ten kernels of its forward first
    expected = 2 * 4 * 10 if scenario == "recomputation" else 0
    assert isinstance(found, Recomputation), found
    assert [device.recomputed_count for device in found.recomputation] == [expected] * 4
