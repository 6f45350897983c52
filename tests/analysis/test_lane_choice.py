"""Which of many GPUs have a lane: those between which the longest waits are come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.lanes.lane import COLUMNS
from nsysan.analysis.timeline import Timeline
from nsysan.model.packing import unpack
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

    timeline = result_of(analyze_exports(tmp_path, export), Timeline).timeline

    shown = {lane.id for lane in timeline.lanes}
    assert len(shown) == 16
    assert {"gpu13", "gpu17"} <= shown
    # the four others can be laid beside them
    assert shown.isdisjoint({lane.id for lane in timeline.other_lanes})
    assert len(timeline.other_lanes) == 4


def test_the_lanes_of_others_hold_the_whole_of_their_window(tmp_path: Path) -> None:
    export = Export()
    for rank in range(20):
        export.kernel(rank * MS, (30 + rank) * MS, ALL_REDUCE, pid=100 + rank)

    run = analyze_exports(tmp_path, export)

    windows = {gpu.id: gpu.time for gpu in result_of(run, GpuTime).gpus}
    exposed = COLUMNS.index("exposed_communication")
    for other in result_of(run, Timeline).timeline.other_lanes:
        # one piece of one column: its length, and the bit of the column
        assert unpack(other.lane.pieces).tolist() == [windows[other.id].exposed_communication_ns, 1 << exposed]
