"""Whether a saved timeline can be drawn: what is packed unpacks, adds up, and lies on the axis."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.analysis.lanes.lane import COLUMNS, Lane
from nsysan.analysis.lanes.ranges import ThreadRanges
from nsysan.analysis.lanes.streams import StreamLane
from nsysan.analysis.timeline import GpuLanes, TimelineLanes
from nsysan.model.packing import unpack
from nsysan.model.partition import Activity

_ACTIVITY_NUMBERS = 3
_RANGE_NUMBERS = 4


def contradiction_of(timeline: TimelineLanes, gpus: frozenset[str] | None) -> str | None:
    """What in the timeline contradicts itself, as a sentence without its full stop; None where nothing does."""
    try:
        _check_axis(timeline, gpus)
        if timeline.all_gpus is not None:
            _check_lane(timeline.all_gpus, timeline.gpu_count, (timeline.start_ns, timeline.end_ns))
        for gpu in timeline.lanes:
            _check_gpu(gpu, timeline)
        for other in timeline.other_lanes:
            _check_lane(other.lane, 1, (timeline.start_ns - other.shift_ns, timeline.end_ns - other.shift_ns))
    except ValueError as error:
        return f"timeline cannot be drawn: {error}"
    return None


def _check_axis(timeline: TimelineLanes, gpus: frozenset[str] | None) -> None:
    ids = [*(lane.id for lane in timeline.lanes), *(lane.id for lane in timeline.other_lanes)]
    if timeline.start_ns >= timeline.end_ns:
        raise ValueError("it ends where it begins")
    if timeline.columns != COLUMNS:
        raise ValueError("its columns are not those of this nsysan")
    if not timeline.lanes or len(set(ids)) < len(ids) or (gpus is not None and not gpus.issuperset(ids)):
        raise ValueError("its lanes are not each of a GPU that gpus[] has")
    if len(ids) > timeline.gpu_count:
        raise ValueError("it has more lanes than GPUs")
    if not any(stretch.time.window_ns for stretch in timeline.stretches):
        raise ValueError("its stretches hold no time")


def _check_gpu(gpu: GpuLanes, timeline: TimelineLanes) -> None:
    axis_ns = (timeline.start_ns - gpu.shift_ns, timeline.end_ns - gpu.shift_ns)
    _check_lane(gpu.lane, 1, axis_ns)
    if any(start_ns > end_ns for start_ns, end_ns in gpu.exact):
        raise ValueError(f"an exact stretch of {gpu.id} ends before it begins")
    for stream in gpu.streams:
        _check_lane(stream.lane, 1, axis_ns)
        _check_activities(stream, len(timeline.names))
    for thread in gpu.threads:
        _check_ranges(thread, len(timeline.names))


def _check_lane(lane: Lane, gpu_count: int, axis_ns: tuple[int, int]) -> None:
    """The pieces are as many as are said, have a length, share it out, and end on the axis."""
    end_ns = lane.start_ns
    count = 0
    for length_ns in _lengths(lane):
        end_ns += length_ns
        count += 1
    if lane.gpu_count != gpu_count or count != lane.piece_count or not count:
        raise ValueError("a lane has not as many GPUs or pieces as it says")
    if lane.start_ns < axis_ns[0] or end_ns > axis_ns[1]:
        raise ValueError("a lane reaches beyond the axis")


def _lengths(lane: Lane) -> Iterator[int]:
    """The length of each piece, whose shares must fit into it."""
    numbers = iter(unpack(lane.pieces).tolist())
    for length_ns in numbers:
        mask = next(numbers, 0)
        if not length_ns or not 0 < mask < 1 << len(COLUMNS):
            raise ValueError("a piece holds nothing")
        shares = [next(numbers, -1) for _ in range(mask.bit_count() - 1)]
        if min(shares, default=0) < 0 or sum(shares) > length_ns * lane.gpu_count:
            raise ValueError("the shares of a piece do not fit into it")
        yield length_ns


def _check_activities(stream: StreamLane, name_count: int) -> None:
    numbers = unpack(stream.activities)
    if len(numbers) != _ACTIVITY_NUMBERS * stream.activity_count:
        raise ValueError("a stream has not as many activities as it says")
    if int(numbers[2::_ACTIVITY_NUMBERS].max(initial=0)) // len(Activity) > name_count:
        raise ValueError("an activity has a name that is not there")


def _check_ranges(thread: ThreadRanges, name_count: int) -> None:
    numbers = unpack(thread.ranges)
    if len(numbers) != _RANGE_NUMBERS * thread.range_count:
        raise ValueError("a thread has not as many ranges as it says")
    if int(numbers[2::_RANGE_NUMBERS].max(initial=0)) > name_count:
        raise ValueError("a range has a name that is not there")
    bundles = unpack(thread.bundles)
    if (
        len(bundles) != _RANGE_NUMBERS * thread.bundle_count
        or int(bundles[2::_RANGE_NUMBERS].sum()) > thread.omitted_count
    ):
        raise ValueError("a thread has not as many bundles of ranges as it says")
