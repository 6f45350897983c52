"""Kernels of the mean steady step: which there are, how often they run, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.analysis.step_kernels import StepKernelRow, StepKernels
from nsysan.model.kernels import KernelClass
from nsysan.model.results import Skipped
from nsysan.model.text import text_hash
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

US = 1_000
LAUNCH = "cudaLaunchKernel_v7000"


def _run(export: Export, start_us: int, end_us: int, name: str, *, stream: int = 7) -> None:
    correlation = export._correlations.get(100, 0) + 1
    export.call((start_us - 5) * US, (start_us - 4) * US, LAUNCH, tid=100, correlation=correlation)
    export.kernel(start_us * US, end_us * US, name, correlation=correlation, stream=stream)


def _steps() -> Export:
    """Four steps of 100 us, three of them closed: sgemm of 40 us, in every second a copy_kernel on another stream."""
    export = Export()
    for step in range(4):
        begin_us = 100 * step
        export.nvtx(begin_us * US, (begin_us + 100) * US, f"step {step}")
        _run(export, begin_us + 10, begin_us + 50, "sgemm")
        if step % 2:
            # begins inside its step and ends in the next one
            _run(export, begin_us + 95, begin_us + 125, "softmax_kernel", stream=9)
    return export


def _row(name: str, kernel_class: KernelClass, runs: float, time_ns: float) -> StepKernelRow:
    return StepKernelRow(name, text_hash(name), kernel_class, runs, time_ns)


def test_a_kernel_belongs_to_the_step_in_which_it_begins_with_all_of_its_time(tmp_path: Path) -> None:
    found = result_of(analyze_exports(tmp_path, _steps()), StepKernels)

    # three closed steps, one of them with a softmax_kernel of 30 us
    assert found.step_kernels == (
        _row("sgemm", KernelClass.GEMM, 1.0, 40_000.0),
        _row("softmax_kernel", KernelClass.NORMALIZATION, 1 / 3, 10_000.0),
    )


def test_the_mean_is_over_devices_and_one_that_does_not_run_a_kernel_counts(tmp_path: Path) -> None:
    other = Export()
    for step in range(3):
        other.nvtx(step * 100 * US, (step * 100 + 100) * US, f"step {step}")
        _run(other, step * 100 + 10, step * 100 + 30, "sgemm")

    found = result_of(analyze_exports(tmp_path, _steps(), other), StepKernels)

    assert found.step_kernels == (
        _row("sgemm", KernelClass.GEMM, 1.0, 30_000.0),
        _row("softmax_kernel", KernelClass.NORMALIZATION, 1 / 6, 5_000.0),
    )


def test_without_steps_it_is_skipped_for_the_same_reason(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().kernel(0, 10, "a"))

    found = run.results.get(StepKernels)

    assert isinstance(found, Skipped)
    assert found.reason.startswith("no range numbers iterations")
