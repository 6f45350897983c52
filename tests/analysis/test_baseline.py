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
