"""What a profile among the evidence tells of its own run: rank, groups, memory; and the baseline's peak from it."""

from __future__ import annotations

import json
from pathlib import Path

from nsysan.analysis.baseline import Baseline
from nsysan.analysis.memory import MemorySource
from nsysan.analysis.profiles import ProfiledMemory, Profiles, ProfileSummary
from nsysan.model.run import Run
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.report.formats.text import render_text
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

GIB = 1 << 30


def profile(path: Path, *states: tuple[int, int, int], rank: int | None = 3) -> Path:
    """A profile with one kernel, and the allocator's states: device, bytes in use, bytes reserved."""
    memory = [
        {
            "ph": "i",
            "cat": "cpu_instant_event",
            "name": "[memory]",
            "pid": 1,
            "tid": 1,
            "ts": moment,
            "args": {"Device Type": 1, "Device Id": device, "Total Allocated": used, "Total Reserved": reserved},
        }
        for moment, (device, used, reserved) in enumerate(states)
    ]
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0}}
    told = {} if rank is None else {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 8}}
    path.write_text(json.dumps({"schemaVersion": 1, **told, "traceEvents": [kernel, *memory]}))
    return path


def analyzed(folder: Path, *evidence: Path, export: Export | None = None) -> Run:
    return analyze_exports(folder, export or Export().kernel(0, 9, "k"), options=AnalyzeOptions(evidence=evidence))


def test_rank_and_highest_states_of_each_device(tmp_path: Path) -> None:
    run = analyzed(tmp_path, profile(tmp_path / "a.pt.trace.json", (0, 5, 9), (1, 4, 4), (0, 7, 8), (0, 1, 8)))

    assert result_of(run, Profiles) == Profiles(
        (ProfileSummary("a.pt.trace.json", 3, 8, 0, 0, (ProfiledMemory(0, 7, 9), ProfiledMemory(1, 4, 4))),)
    )


def test_the_fullest_profile_gives_the_baselines_peak_and_its_name(tmp_path: Path) -> None:
    paths = [profile(tmp_path / f"{name}.json", (0, used * GIB, 60 * GIB)) for name, used in (("a", 40), ("b", 50))]

    run = analyzed(tmp_path, *paths)

    figures = result_of(run, Baseline).baseline
    assert (figures.peak_memory_bytes, figures.peak_memory_kind, figures.peak_memory_source) == (
        50 * GIB,
        MemorySource.ALLOCATOR_USED,
        "b.json",
    )
    # 50 * 2^30 = 53,687,091,200 and 60 * 2^30 = 64,424,509,440
    assert (
        "b.json profiles rank 3 of 8, whose allocator had 53.687 GB in use at most, and 64.425 GB reserved."
        in render_text(run)
    )


def test_what_the_report_counts_itself_stands(tmp_path: Path) -> None:
    export = Export().kernel(0, 9, "k").memory(1, 4, 1)
    run = analyzed(tmp_path, profile(tmp_path / "a.json", (0, 50 * GIB, 60 * GIB)), export=export)

    figures = result_of(run, Baseline).baseline
    assert (figures.peak_memory_bytes, figures.peak_memory_source) == (4, None)


def test_a_profile_without_memory_or_rank_says_so(tmp_path: Path) -> None:
    run = analyzed(tmp_path, profile(tmp_path / "a.json", rank=None))

    assert result_of(run, Profiles) == Profiles((ProfileSummary("a.json", None, None, 0, 0, ()),))
    assert "a.json profiles a rank that it does not name, and tells nothing of memory" in " ".join(
        render_text(run).split()
    )
