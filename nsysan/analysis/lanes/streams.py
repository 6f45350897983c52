"""The streams of a GPU in the timeline: what kind of work ran on each, and single activities where they are shown."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.analysis.lanes.excerpt import Excerpt
from nsysan.analysis.lanes.lane import Lane, lane_of
from nsysan.analysis.lanes.names import NameTable
from nsysan.attribution.activities import Activities
from nsysan.attribution.devices import Gpu
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.job import Job
from nsysan.attribution.streams import streams_of_work
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import distinct, first_rows
from nsysan.model.packing import pack
from nsysan.model.partition import Activity
from nsysan.model.tables import ABSENT
from nsysan.model.trace import process_of
from nsysan.timeline.occupancy import sweep

STREAM_LIMIT = 6
_KIND_BITS = np.array([int(kind) for kind in Activity])


class StreamLane(msgspec.Struct, frozen=True):
    """What ran on one stream of a process. The parts of ``lane`` are those of this stream alone.

    ``activities`` packs of each of ``activity_count`` activities in the GPU's ``exact`` spans, in order of begin, the
    time since the begin before (the first: since time zero), its duration, and 5 times its name (a place in ``names``
    from 1 on, 0: not kept) plus its kind: compute, communication, fused, graph, copy from 0 on.
    """

    pid: int | None
    context_id: int | None
    stream_id: int | None
    lane: Lane
    activity_count: int
    activities: str


def streams_of(
    job: Job, gpu: Gpu, excerpt: Excerpt, names: NameTable, limit: int
) -> tuple[tuple[StreamLane, ...], int]:
    """The streams with the most work in the window, in order of their ids, and how many more there are.

    Each lane has at most about ``limit`` pieces.
    """
    streams, activities = streams_of_work(job.traces, gpu.activities), gpu.activities
    first_ns, last_ns = gpu.window_ns
    inside_ns = activities.end_ns.clip(first_ns, last_ns) - activities.start_ns.clip(first_ns, last_ns)
    work_ns = np.bincount(streams.codes, weights=inside_ns, minlength=len(streams.identities))
    busiest = [code for code in np.argsort(-work_ns, kind="stable").tolist() if work_ns[code] > 0]
    of_excerpt = streams_of_work(job.traces, excerpt.activities)
    lanes = []
    for code in sorted(busiest[:STREAM_LIMIT]):
        own, identity = np.flatnonzero(streams.codes == code), streams.identities[code]
        occupancy = sweep(activities.start_ns[own], activities.end_ns[own], activities.kind[own], gpu.window_ns)
        shown = excerpt.activities.take((of_excerpt.identities[of_excerpt.codes] == identity).all(axis=1))
        lane = lane_of(occupancy, excerpt.spans, limit)
        lanes.append(_stream_lane(identity, lane, shown, _pack_activities(job, shown, names)))
    return tuple(lanes), max(len(busiest) - STREAM_LIMIT, 0)


def _stream_lane(identity: Int64Array, lane: Lane, shown: Activities, packed: str) -> StreamLane:
    global_pid, context_id, stream_id = identity.tolist()
    return StreamLane(
        pid=process_of(global_pid),
        context_id=None if context_id == ABSENT else context_id,
        stream_id=None if stream_id == ABSENT else stream_id,
        lane=lane,
        activity_count=len(shown),
        activities=packed,
    )


def _pack_activities(job: Job, shown: Activities, names: NameTable) -> str:
    named_kinds = _name_numbers(job, shown, names) * len(Activity) + np.searchsorted(_KIND_BITS, shown.kind)
    begun_ns = np.diff(shown.start_ns, prepend=0)
    return pack(np.column_stack((begun_ns, shown.end_ns - shown.start_ns, named_kinds)).ravel())


def _name_numbers(job: Job, shown: Activities, names: NameTable) -> Int64Array:
    """The number of each activity's name; each is asked for once, in the order in which they come."""
    codes = codes_of(shown.report, shown.source, _kernel_names(job, shown))
    firsts = first_rows(codes)
    numbers = np.empty(len(firsts), np.int64)
    for code in np.argsort(firsts).tolist():
        numbers[code] = names.number(job.activity_name(shown, firsts[code]))
    return numbers[codes]


def _kernel_names(job: Job, activities: Activities) -> Int64Array:
    """The id of each kernel's name, ``ABSENT`` of other activities."""
    name_ids = np.full(len(activities), ABSENT)
    are_kernels = activities.are_of("kernels")
    for report in distinct(activities.report).tolist():
        kernels, ours = job.traces[report].kernels, are_kernels & (activities.report == report)
        if kernels is not None:
            name_ids[ours] = kernels.name_id[activities.row[ours]]
    return name_ids
