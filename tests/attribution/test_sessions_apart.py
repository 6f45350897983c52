"""Reports that were recorded hours apart are not taken for one run without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.synth.export import Export
from tests.analysis.nccl_traces import ALL_REDUCE, MS
from tests.runs import analyze_exports

if TYPE_CHECKING:
    from pathlib import Path

START_NS = 1_700_000_000_000_000_000
MINUTE_NS = 60_000_000_000


def reports(starts_ns: list[int]) -> list[Export]:
    """Ranks that reduce from 10 ms to 30 ms, in sessions of a second that begin then."""
    return [
        Export().session(start_ns, 1_000 * MS).kernel(10 * MS, 30 * MS, ALL_REDUCE, pid=100 + rank)
        for rank, start_ns in enumerate(starts_ns)
    ]


@pytest.mark.parametrize(
    ("minutes", "sentence"),
    [
        ([0, 0, 0], None),
        ([0, 9, 18], None),
        ([0, 120, 1], "rank1.sqlite was recorded 7,139.000 s after rank2.sqlite"),
    ],
)
def test_the_widest_gap_between_captures_is_said(tmp_path: Path, minutes: list[int], sentence: str | None) -> None:
    run = analyze_exports(tmp_path, *reports([START_NS + minute * MINUTE_NS for minute in minutes]))

    said = [note.sentence for note in run.notes if note.id == "sessions_apart"]
    assert len(said) == (sentence is not None)
    assert all((sentence or "") in one for one in said)
