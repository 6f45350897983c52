"""What a GPU or device did in its window, summed: the partition, its gaps, and its work."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.gap_sums import GapFold, GapSums, NameOf
from nsysan.timeline.gap_sizes import SizedGaps
from nsysan.timeline.occupancy import Occupancy, StateTimes


class WorkSums(msgspec.Struct, frozen=True, eq=False):
    """The sums over ``window_ns``, begin and end.

    ``work_ns`` sums the activities' durations inside the window, overlaps counted repeatedly; ``work_count`` counts
    the activities, inside or not.
    """

    window_ns: tuple[int, int]
    state_times: StateTimes
    gaps: GapSums
    work_ns: int
    work_count: int


def sums_of(activities: Activities, occupancy: Occupancy, name_of: NameOf) -> WorkSums:
    """The sums of the window that the occupancy, which is that of these activities, fills."""
    first_ns, last_ns = int(occupancy.bounds_ns[0]), int(occupancy.bounds_ns[-1])
    gaps = GapFold(first_ns)
    gaps.add(SizedGaps.of(occupancy.idle(), gaps.above_ns), activities, last_ns, name_of)
    work_ns = work_inside(activities, (first_ns, last_ns))
    return WorkSums((first_ns, last_ns), occupancy.state_times, gaps.sums(), work_ns, len(activities))


def work_inside(activities: Activities, window_ns: tuple[int, int]) -> int:
    """The sum of the activities' durations, each clipped to the window."""
    start_ns, end_ns = (column.clip(*window_ns) for column in (activities.start_ns, activities.end_ns))
    return int(np.subtract(end_ns, start_ns, out=end_ns).sum())
