"""NVTX ranges of the timeline: of the threads that drive a GPU, by depth, the longest and those near a place."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from nsysan.analysis.lanes.bundles import by_depth, pack_bundles
from nsysan.analysis.lanes.names import NameTable
from nsysan.attribution.clocks import Clock
from nsysan.attribution.devices import Gpu
from nsysan.attribution.host import Host
from nsysan.attribution.job import Job
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.packing import pack
from nsysan.model.tables import ABSENT
from nsysan.model.trace import PID_MASK, PROCESS_BITS, Trace, process_of
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.labelling import depths_of
from nsysan.timeline.ordering import foremost, is_ascending, order_of
from nsysan.timeline.search import search

THREADS_PER_GPU = 2
DEPTH_LIMIT = 4
BUNDLED = 16
"""For so many ranges that may be kept there may be one bundle a depth of those that are not."""


class ThreadRanges(msgspec.Struct, frozen=True):
    """NVTX ranges of a thread, those of up to ``DEPTH_LIMIT`` others around them left out.

    ``ranges`` packs of each of ``range_count`` ranges, in order of begin, the time since the begin before (the first:
    since the GPU's window begins), its duration, its name (a place in ``names`` from 1 on, 0: not kept) and its depth:
    how many ranges of the thread were open when it began. All ranges of at least ``complete_from_ns`` are here;
    of ``omitted_count`` shorter ones there was no room. They are cut at the window's edges. ``bundles`` packs of each
    of ``bundle_count`` stretches in which those lie, in order of begin, the time since the begin before, its duration,
    how many of them it holds, and their depth.
    """

    pid: int | None
    tid: int
    range_count: int
    omitted_count: int
    complete_from_ns: int
    ranges: str
    bundle_count: int = 0
    bundles: str = ""


class RangeRoom(msgspec.Struct, frozen=True):
    """How many ranges of a thread may be kept, the names they share with everything else, and where all are wanted."""

    limit: int
    names: NameTable
    spans: Intervals


class _Cut(msgspec.Struct, frozen=True, eq=False):
    """Ranges of a thread that take some time in the window, cut at its edges, in order of begin, the longest first."""

    trace: Trace
    global_tid: int
    rows: IdArray
    start_ns: Int64Array
    end_ns: Int64Array

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: BoolArray | Int64Array) -> _Cut:
        """Those of them."""
        return _Cut(self.trace, self.global_tid, self.rows[chosen], self.start_ns[chosen], self.end_ns[chosen])


def threads_of(job: Job, gpu: Gpu, clocks: Sequence[Clock], room: RangeRoom) -> tuple[ThreadRanges, ...]:
    """The threads of the GPU's processes that have the most ranges in its window."""
    found: list[_Cut] = []
    for device in gpu.devices:
        host = job.idle.threads[device.report].host
        shift_ns = clocks[device.report].shift_to(clocks[gpu.devices[0].report])
        threads = np.union1d(host.stacked_by_thread.keys, host.unstacked_by_thread.keys)
        own = threads[threads & PROCESS_BITS == device.global_pid].tolist()
        found += [_cut(host, global_tid, shift_ns, gpu.window_ns) for global_tid in own]
    busiest = sorted(filter(len, found), key=lambda cut: -len(cut))[:THREADS_PER_GPU]
    return tuple(_pack_thread(cut, gpu.window_ns[0], room) for cut in busiest)


def _cut(host: Host, global_tid: int, shift_ns: int, window_ns: tuple[int, int]) -> _Cut:
    """The ranges of a thread in the window."""
    unstacked = host.unstacked_by_thread.of(global_tid)
    rows = host.stacked_by_thread.of(global_tid)
    rows = np.concatenate([rows, unstacked]) if len(unstacked) else rows
    ends_ns = host.ranges.end_ns[rows]
    start_ns, end_ns = (
        host.ranges.start_ns[rows] + shift_ns,
        np.where(ends_ns == ABSENT, window_ns[1], ends_ns + shift_ns),
    )
    cut = _Cut(host.trace, global_tid, rows, start_ns.clip(*window_ns), end_ns.clip(*window_ns))
    solid = cut.end_ns > cut.start_ns
    if not solid.all():
        cut = cut.take(solid)
    order = order_of(cut.start_ns, -cut.end_ns, cut.rows)
    return cut if is_ascending(order) else cut.take(order)


def _pack_thread(ranges: _Cut, origin_ns: int, room: RangeRoom) -> ThreadRanges:
    depth = depths_of(ranges.start_ns, ranges.end_ns)
    shallow = depth < DEPTH_LIMIT
    ranges, depth = ranges.take(shallow), depth[shallow]
    kept = _kept(ranges, room)
    rows, others = np.flatnonzero(kept), np.flatnonzero(~kept)
    lengths_ns, begun_ns = (ranges.end_ns - ranges.start_ns)[rows], np.diff(ranges.start_ns[rows], prepend=origin_ns)
    numbers = np.column_stack((begun_ns, lengths_ns, _name_numbers(ranges, rows, room.names), depth[rows]))
    omitted = by_depth(ranges.start_ns[others], ranges.end_ns[others], depth[others])
    bundle_count, bundles = pack_bundles(list(omitted), origin_ns, max(room.limit // BUNDLED, 1))
    longest_ns = (ranges.end_ns[others] - ranges.start_ns[others]).max(initial=-1)
    return ThreadRanges(
        pid=process_of(ranges.global_tid),
        tid=ranges.global_tid & PID_MASK,
        range_count=len(rows),
        omitted_count=len(others),
        complete_from_ns=int(longest_ns) + 1,
        ranges=pack(numbers.ravel()),
        bundle_count=bundle_count,
        bundles=bundles,
    )


def _name_numbers(ranges: _Cut, rows: Int64Array, names: NameTable) -> Int64Array:
    """The number of the name of each of these ranges; the longest ask for theirs first."""
    assert ranges.trace.nvtx_ranges is not None, "it has ranges"
    name_ids = ranges.trace.nvtx_ranges.name_id[ranges.rows[rows]].tolist()
    numbers = np.zeros(len(rows), np.int64)
    for place in np.argsort(ranges.start_ns[rows] - ranges.end_ns[rows], kind="stable").tolist():
        numbers[place] = names.number(ranges.trace.text(name_ids[place]))
    return numbers


def _kept(ranges: _Cut, room: RangeRoom) -> BoolArray:
    """The longest ranges, for half of the room, and with the rest the longest of those that reach into a span."""
    # the first span that ends after the range has begun
    span = search(room.spans.end_ns, ranges.start_ns, side="right")
    near = np.append(room.spans.start_ns, np.iinfo(np.int64).max)[span] < ranges.end_ns
    shortness_ns = ranges.start_ns - ranges.end_ns
    kept = np.zeros(len(ranges), dtype=np.bool_)
    # of equally long ones the first
    kept[foremost(room.limit // 2, shortness_ns)] = True
    left = room.limit - room.limit // 2
    for among in (near, ~near):
        rows = np.flatnonzero(among & ~kept) if left else np.empty(0, np.intp)
        chosen = rows[foremost(left, shortness_ns[rows])]
        kept[chosen] = True
        left -= len(chosen)
    return kept
