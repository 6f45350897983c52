"""Gaps by size: how many there are and how long they are, and which of them are large."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import summed
from nsysan.model.units import NS_PER_MS, NS_PER_S, NS_PER_US
from nsysan.timeline.intervals import Intervals

SIZE_BOUNDS_NS = (0, 10 * NS_PER_US, 100 * NS_PER_US, NS_PER_MS, 10 * NS_PER_MS, 100 * NS_PER_MS, NS_PER_S)
"""A gap is of the size whose bound it reaches and whose next bound it does not."""


class SizedGaps(msgspec.Struct, frozen=True, eq=False):
    """Count and total of gaps by size; those longer than what was asked, with their places among all, in order."""

    counts: Int64Array
    totals_ns: Int64Array
    large: Intervals
    large_places: Int64Array

    @classmethod
    def of(cls, gaps: Intervals, above_ns: int) -> SizedGaps:
        """The gaps, of which those longer than ``above_ns`` are large."""
        durations_ns = gaps.durations_ns
        size_of = np.searchsorted(SIZE_BOUNDS_NS, durations_ns, side="right") - 1
        places = np.flatnonzero(durations_ns > above_ns)
        return cls(
            np.bincount(size_of, minlength=len(SIZE_BOUNDS_NS)),
            summed(durations_ns, size_of, len(SIZE_BOUNDS_NS)),
            Intervals(gaps.start_ns[places], gaps.end_ns[places]),
            places,
        )
