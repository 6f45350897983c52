"""Gaps and what stood at their edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.idle_gaps import Gap, GapSizes, IdleGaps
from nsysan.attribution.window import WindowChoice
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

MS = 1_000_000


def test_gaps_are_named_by_what_ran_before_and_after(tmp_path: Path) -> None:
    export = Export().kernel(0, 10, "a").kernel(5, 8, "hidden", stream=8).copy(25, 30, 64)
    export.memset(31, 40, 64).graph(60, 70).kernel(90, 95, "b")

    run = analyze_exports(tmp_path, export, options=AnalyzeOptions(window=WindowChoice(0, 100)))

    assert result_of(run, IdleGaps).gaps == (
        Gap("gpu0", 40, 60, 20, "[memset]", "[CUDA graph]"),
        Gap("gpu0", 70, 90, 20, "[CUDA graph]", "b"),
        Gap("gpu0", 10, 25, 15, "a", "[memory copy]"),
        Gap("gpu0", 95, 100, 5, "b", None),
        Gap("gpu0", 30, 31, 1, "[memory copy]", "[memset]"),
    )


def test_sizes_count_every_gap_once_and_add_up_to_idle(tmp_path: Path) -> None:
    # C07: gaps of 5, 0.4 and 0.3 ms; one gap >= 1 ms totals 5.0, all idle is 5.7
    export = Export()
    for start_ns in (0, 6 * MS, 7_400_000, 8_700_000):
        export.kernel(start_ns, start_ns + MS, "a")

    run = analyze_exports(tmp_path, export)

    sizes = [size for size in result_of(run, IdleGaps).gap_sizes if size.count]
    assert sizes == [
        GapSizes("gpu0", 100_000, MS, 2, 700_000),
        GapSizes("gpu0", MS, 10 * MS, 1, 5 * MS),
    ]
    assert result_of(run, GpuTime).gpus[0].time.idle_ns == 5_700_000


def test_back_to_back_kernels_leave_no_gap(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().kernel(0, 10, "a").kernel(10, 20, "b").kernel(15, 15, "c"))

    assert result_of(run, IdleGaps).gaps == ()
