"""The six baseline figures: what is known now, and why the others are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.analysis.baseline import Baseline
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path


def test_how_busy_compute_was_is_known_and_the_rest_has_reasons(tmp_path: Path) -> None:
    figures = result_of(analyze_exports(tmp_path, Export().kernel(0, 60, "k").copy(60, 100, 8)), Baseline).baseline

    assert figures.compute_busy_frac == 0.6
    nulls = {"tokens_per_s", "mfu", "communication_wait_frac", "data_wait_ns_per_step", "peak_memory_bytes"}
    assert {name for name in nulls if getattr(figures, name) is None} == nulls == figures.unknown.keys()


def test_inside_graphs_recorded_whole_it_is_unknown_not_zero(tmp_path: Path) -> None:
    figures = result_of(analyze_exports(tmp_path, Export().graph(0, 95).kernel(95, 100, "k")), Baseline).baseline

    assert figures.compute_busy_frac is None  # C51, T8
    assert figures.unknown["compute_busy_frac"] == (
        "95.0 % of the window passes inside CUDA graphs whose kernels were not recorded; "
        "record with --cuda-graph-trace=node"
    )


def test_the_data_wait_is_the_mean_over_steady_steps_and_devices(tmp_path: Path) -> None:
    # each device works in the second half of steps of 10 ms, and loads for 4 or 2 ms of the first
    export = Export()
    for pid, loading_ns in ((100, 4_000_000), (200, 2_000_000)):
        for place in range(4):
            begin_ns = place * 10_000_000
            export.nvtx(begin_ns, begin_ns + 10_000_000, f"step {place}", pid=pid)
            export.nvtx(begin_ns, begin_ns + loading_ns, "DataLoader.next", pid=pid)
            export.call(begin_ns + 4_995_000, begin_ns + 4_996_000, "cudaLaunchKernel", pid=pid, correlation=place + 1)
            export.kernel(begin_ns + 5_000_000, begin_ns + 10_000_000, "k", pid=pid, correlation=place + 1)

    figures = result_of(analyze_exports(tmp_path, export), Baseline).baseline

    assert figures.data_wait_ns_per_step == 3_000_000
    assert "data_wait_ns_per_step" not in figures.unknown


def test_without_steps_the_data_wait_is_unknown_and_it_is_said_why(tmp_path: Path) -> None:
    figures = result_of(analyze_exports(tmp_path, Export().kernel(0, 60, "k")), Baseline).baseline

    assert figures.unknown["data_wait_ns_per_step"] == (
        "needs training steps: no range numbers iterations, and the kernels show no period that holds one optimizer "
        "burst"
    )


def test_ranks_whose_work_has_no_length_tell_no_share_of_waiting(tmp_path: Path) -> None:
    export = Export().gpu(uuid="GPU-1")
    for pid, moment_ns in ((100, 10), (200, 20)):
        export.cuda_device(pid=pid, uuid="GPU-1").kernel(moment_ns, moment_ns, "k", pid=pid)

    figures = result_of(analyze_exports(tmp_path, export), Baseline).baseline

    assert figures.communication_wait_frac is None
    assert figures.unknown["communication_wait_frac"] == "needs work of some length: the windows of all ranks have none"
