"""What results offer to compare: each figure once, and parts that add up to what they say they are part of."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from nsysan.history.snapshot import Snapshot, snapshot_of
from nsysan.model.figures import Better, Figure, Unit
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import Scenario, all_scenarios
from tests.report.inside import AGAIN, FULL
from tests.report.runs import full_run


def _snapshot(folder: Path, scenario: Scenario) -> Snapshot:
    exports = generate(Request(scenario=scenario, rank_count=2, step_count=4)).exports
    return snapshot_of(analyze([export.write(folder / name) for name, export in exports.items()], AnalyzeOptions()))


@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.name)
def test_figures_have_one_id_each_and_add_up_to_the_figure_they_are_part_of(tmp_path: Path, scenario: Scenario) -> None:
    figures = _snapshot(tmp_path, scenario).figures
    by_id = {figure.id: figure for figure in figures}
    parts: defaultdict[str, list[Figure]] = defaultdict(list)
    for figure in figures:
        if figure.part_of is not None:
            parts[figure.part_of].append(figure)

    assert [figure_id for figure_id, count in Counter(figure.id for figure in figures).items() if count > 1] == []
    assert {"step.mean", "window_shares.whole"} <= set(parts)
    for whole, pieces in parts.items():
        # means are cut to whole nanoseconds
        assert sum(piece.value for piece in pieces) == pytest.approx(by_id[whole].value, abs=2), whole


def test_what_memory_and_recomputation_offer() -> None:
    figures = [*FULL.figures(), *AGAIN.figures()]

    # ten calls and 8 MB of pageable copies in five steps; 25 of 100 ns computed again
    assert {figure.id: (figure.value, figure.unit, figure.better) for figure in figures} == {
        "memory.peak_driver_reserved": (60e9, Unit.BYTES, Better.LESS),
        "memory.allocator_calls": (2.0, Unit.COUNT, Better.LESS),
        "memory.pageable_bytes": (1.6e6, Unit.BYTES, Better.LESS),
        "recomputation.share": (0.25, Unit.FRAC, Better.NEITHER),
    }


def test_conditions_have_one_id_each(tmp_path: Path) -> None:
    conditions = _snapshot(tmp_path, all_scenarios()[0]).conditions

    assert [one for one, count in Counter(each.id for each in conditions).items() if count > 1] == []
    assert {each.id: each.value for each in conditions} == {
        "gpu_model": "NVIDIA H100 80GB HBM3",
        "gpu_count": "2",
        "graphs": "by their kernels, or none ran",
        "missing_records": "none",
        "steps": "nvtx: step *",
        "world_size": None,
        "profiler": "nsys",
        "gpu_choice": "all",
        "window_choice": "none: the whole capture",
        "report_count": "1",
        "nsys_version": "2026.2.1.210",
        "recorded.kernels": "recorded",
        "recorded.copies": "recorded",
        "recorded.runtime_calls": "recorded",
        "recorded.nvtx_ranges": "recorded",
        "recorded.os_calls": "not recorded",
        "recorded.scheduling_events": "not recorded",
        "recorded.cpu_samples": "not recorded",
        "recorded.counter_samples": "not recorded",
        "recorded.kernel_names": "recorded",
        "nsysan_version": "0.1.0",
    }


def test_a_changed_run_that_tells_a_figure_twice_is_taken_at_its_first_word() -> None:
    # the three kernels of this run share the hash of their names
    medians = [figure for figure in snapshot_of(full_run()).figures if figure.topic.id == "kernel_medians"]

    assert [(figure.name, figure.value) for figure in medians] == [("sgemm", 100_000_000)]
