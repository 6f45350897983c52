"""A timeline of the two GPUs, small enough to reckon by hand."""

from __future__ import annotations

import numpy as np

from nsysan.analysis.lanes.lane import COLUMNS, Lane, pack_lane
from nsysan.analysis.lanes.places import KernelPlace, PartPlace
from nsysan.analysis.lanes.ranges import ThreadRanges
from nsysan.analysis.lanes.streams import StreamLane
from nsysan.analysis.lanes.waits import CAUSES_LAST_FIRST
from nsysan.analysis.timeline import GpuLanes, Stretch, Timeline, TimelineLanes
from nsysan.model.packing import pack
from nsysan.model.partition import Part, PartTimes
from tests.report.recorded import MS

WINDOW_START_NS = 2_000_000_000


def lane(*pieces: tuple[int, dict[str, int]], gpu_count: int = 1) -> Lane:
    """A lane from 2 s on, of pieces of so many ms that hold so many ms of these parts and causes."""
    edges_ns = WINDOW_START_NS + np.cumsum([0, *(length for length, _ in pieces)]) * MS
    times_ns = np.array([[shares.get(part.value, 0) for part in Part] for _, shares in pieces]) * MS
    causes_ns = np.array([[shares.get(cause.value, 0) for cause in CAUSES_LAST_FIRST] for _, shares in pieces]) * MS
    times_ns[:, list(Part).index(Part.IDLE)] += causes_ns.sum(axis=1)
    return pack_lane(edges_ns, times_ns, gpu_count, causes_ns)


def whole(*pieces: tuple[int, str]) -> Lane:
    """A lane whose pieces hold one part each."""
    return lane(*((length, {part: length}) for length, part in pieces))


# the gaps above, and between them what makes up the partition of each GPU; the order within the mixed piece is unknown
FIRST_LANE = lane(
    (100, {"compute_only": 100}),
    (50, {"idle": 50}),
    (150, {"exposed_communication": 150}),
    (25, {"idle": 25}),
    (275, {"compute_only": 125, "overlapped": 100, "exposed_copy": 50}),
    (25, {"idle": 25}),
    (375, {"compute_only": 375}),
)
SECOND_LANE = whole(
    (125, "compute_only"),
    (125, "idle"),
    (100, "exposed_communication"),
    (100, "overlapped"),
    (50, "exposed_copy"),
    (125, "idle"),
    (375, "compute_only"),
)


def gpu_lanes(gpu_id: str, lane: Lane, *, threads: tuple[ThreadRanges, ...] = ()) -> GpuLanes:
    """A GPU with one stream, whose first 500 ms hold a kernel of 100 ms and a copy of 50 ms at their ends."""
    stream = whole((100, "compute_only"), (350, "idle"), (50, "exposed_copy"), (500, "idle"))
    # since the begin before, duration, name * 5 + kind
    activities = [WINDOW_START_NS, 100 * MS, 1 * 5 + 0, 450 * MS, 50 * MS, 2 * 5 + 4]
    streams = (StreamLane(100, 1, 7, stream, 2, pack(np.array(activities))),)
    exact = ((WINDOW_START_NS, WINDOW_START_NS + 300 * MS),)
    return GpuLanes(gpu_id, 0, lane, exact, streams, 0, threads)


# a step of 400 ms from 100 ms on, and inside it a forward of 200 ms: since the begin before, duration, name, depth
THREAD = ThreadRanges(100, 101, 2, 3, 5 * MS, pack(np.array([100 * MS, 400 * MS, 3, 0, 0, 200 * MS, 4, 1])))
FIRST_HALF = PartTimes(350 * MS, 100 * MS, 0, 0, 250 * MS, 50 * MS, 250 * MS)
SECOND_HALF = PartTimes(750 * MS, 100 * MS, 0, 0, 0, 50 * MS, 100 * MS)
TIMELINE = Timeline(
    TimelineLanes(
        start_ns=WINDOW_START_NS,
        end_ns=WINDOW_START_NS + 1_000 * MS,
        gpu_count=2,
        columns=COLUMNS,
        stretches=(
            Stretch(2_000_000_000, 2_500_000_000, FIRST_HALF),
            Stretch(2_500_000_000, 3_000_000_000, SECOND_HALF),
        ),
        all_gpus=lane(
            (
                500,
                {"compute_only": 350, "overlapped": 100, "exposed_communication": 250, "exposed_copy": 50, "idle": 250},
            ),
            (500, {"compute_only": 750, "overlapped": 100, "exposed_copy": 50, "idle": 100}),
            gpu_count=2,
        ),
        lanes=(gpu_lanes("gpu0", FIRST_LANE, threads=(THREAD,)), gpu_lanes("gpu1", SECOND_LANE)),
        kernel_places=(KernelPlace("0" * 16, "gpu0", 2_000_000_000, 100 * MS),),
        part_places=(PartPlace(Part.EXPOSED_COMMUNICATION, "gpu0", 2_150_000_000, 2_300_000_000),),
        names=("sgemm", "[memory copy]", "step 1", "forward"),
    )
)
