"""NVTX ranges of the timeline: of the threads that drive a GPU, by depth, the longest and those near a place."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from nsysan.analysis.lanes.bundles import by_depth, pack_bundles
from nsysan.analysis.lanes.names import NameTable
from nsysan.attribution.clocks import Clock
from nsysan.attribution.devices import Gpu
from nsysan.attribution.job import Job
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.distinct import coded
from nsysan.model.packing import pack
from nsysan.model.tables import ABSENT, NvtxRanges
from nsysan.model.trace import PID_MASK, PROCESS_BITS, Trace, process_of
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.labelling import depths_of
from nsysan.timeline.ordering import foremost, order_of

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


def threads_of(job: Job, gpu: Gpu, clocks: Sequence[Clock], room: RangeRoom) -> tuple[ThreadRanges, ...]:
    """The threads of the GPU's processes that have the most ranges in its window."""
    found: list[tuple[int, Trace, NvtxRanges, int]] = []
    for device in gpu.devices:
        trace = job.idle.threads[device.report].host.trace
        shift_ns = clocks[device.report].shift_to(clocks[gpu.devices[0].report])
        ranges = _ranges_in(trace, device.global_pid, shift_ns, gpu.window_ns)
        threads, places = coded(ranges.global_tid)
        counts = np.bincount(places, minlength=len(threads))
        found += [(count, trace, ranges, tid) for tid, count in zip(threads.tolist(), counts.tolist(), strict=True)]
    busiest = sorted(found, key=lambda entry: -entry[0])[:THREADS_PER_GPU]
    return tuple(
        _pack_thread(trace, ranges.take(ranges.global_tid == tid), gpu.window_ns[0], room)
        for _, trace, ranges, tid in busiest
    )


def _ranges_in(trace: Trace, global_pid: int, shift_ns: int, window_ns: tuple[int, int]) -> NvtxRanges:
    """The ranges of a process that take some time in the window, cut at its edges, in order of begin."""
    if trace.nvtx_ranges is None:
        return NvtxRanges.concatenate([])
    ranges = trace.nvtx_ranges.take((trace.nvtx_ranges.global_tid & PROCESS_BITS) == global_pid)
    ends_ns = np.where(ranges.end_ns == ABSENT, window_ns[1], ranges.end_ns + shift_ns)
    columns = ranges.columns()
    columns |= {"start_ns": (ranges.start_ns + shift_ns).clip(*window_ns), "end_ns": ends_ns.clip(*window_ns)}
    cut = NvtxRanges(**columns)
    cut = cut.take(cut.end_ns > cut.start_ns)
    return cut.take(order_of(cut.start_ns, -cut.end_ns))


def _pack_thread(trace: Trace, ranges: NvtxRanges, origin_ns: int, room: RangeRoom) -> ThreadRanges:
    depth = depths_of(ranges.start_ns, ranges.end_ns)
    ranges, depth = ranges.take(depth < DEPTH_LIMIT), depth[depth < DEPTH_LIMIT]
    lengths_ns = ranges.end_ns - ranges.start_ns
    kept = _kept(ranges, room)
    name_numbers = np.zeros(len(ranges), dtype=np.int64)
    for row in _longest(ranges, np.flatnonzero(kept), len(ranges)).tolist():
        name_numbers[row] = room.names.number(trace.text(int(ranges.name_id[row])))
    rows = np.flatnonzero(kept)
    begun_ns = np.diff(ranges.start_ns[rows], prepend=origin_ns)
    numbers = np.column_stack((begun_ns, lengths_ns[rows], name_numbers[rows], depth[rows]))
    dropped_ns = lengths_ns[~kept]
    global_tid = int(ranges.global_tid[0])
    omitted = by_depth(ranges.start_ns[~kept], ranges.end_ns[~kept], depth[~kept])
    bundle_count, bundles = pack_bundles(list(omitted), origin_ns, max(room.limit // BUNDLED, 1))
    return ThreadRanges(
        pid=process_of(global_tid),
        tid=global_tid & PID_MASK,
        range_count=len(rows),
        omitted_count=len(dropped_ns),
        complete_from_ns=int(dropped_ns.max(initial=-1)) + 1,
        ranges=pack(numbers.ravel()),
        bundle_count=bundle_count,
        bundles=bundles,
    )


def _longest(ranges: NvtxRanges, rows: Int64Array, count: int) -> Int64Array:
    """Of these rows the longest ranges, longest first and of equals the first."""
    return rows[foremost(count, ranges.start_ns[rows] - ranges.end_ns[rows], ranges.start_ns[rows])]


def _kept(ranges: NvtxRanges, room: RangeRoom) -> BoolArray:
    """The longest ranges, for half of the room, and with the rest the longest of those that reach into a span."""
    near = np.zeros(len(ranges), dtype=np.bool_)
    if len(room.spans):
        # the first span that ends after the range has begun
        span = np.searchsorted(room.spans.end_ns, ranges.start_ns, side="right")
        exists = span < len(room.spans)
        near[exists] = room.spans.start_ns[span[exists]] < ranges.end_ns[exists]
    kept = np.zeros(len(ranges), dtype=np.bool_)
    kept[_longest(ranges, np.arange(len(ranges)), room.limit // 2)] = True
    left = room.limit - room.limit // 2
    reaching = _longest(ranges, np.flatnonzero(near & ~kept), left)
    further = _longest(ranges, np.flatnonzero(~near & ~kept), left - len(reaching))
    kept[reaching] = kept[further] = True
    return kept
