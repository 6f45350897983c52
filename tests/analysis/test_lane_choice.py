"""Which of many GPUs have a lane: those between which the longest waits are come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.analysis.timeline import Timeline
from nsysan.synth.export import Export
from tests.analysis.nccl_traces import ALL_REDUCE, MS
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path


def test_a_late_rank_and_those_that_wait_most_for_it_lie_side_by_side(tmp_path: Path) -> None:
    # of 20 ranks rank 13 comes last, 9 ms after the first, which is rank 17; all of them compute alike
    export = Export()
    for rank in range(20):
        start_ms = {13: 10, 17: 1}.get(rank, 5)
        export.kernel(start_ms * MS, 12 * MS, ALL_REDUCE, pid=100 + rank)

    lanes = result_of(analyze_exports(tmp_path, export), Timeline).timeline.lanes

    assert len(lanes) == 16
    assert {"gpu13", "gpu17"} <= {lane.id for lane in lanes}
