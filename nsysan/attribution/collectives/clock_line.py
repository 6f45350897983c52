"""How one clock reads beside another: ahead by so much, and on long captures by more and more."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.thresholds import TIE_NS

FEWEST_FOR_DRIFT = 16
FASTEST_DRIFT_FRAC = 5e-4
"""Quartz is right to 0.1 in a thousand, two of them to 0.2: ends that part faster are no drift."""
_BINS = 64


class ClockLine(msgspec.Struct, frozen=True):
    """Moments of one clock on another: time + ``offset_ns`` + ``drift_frac`` * time, from the session's begin on."""

    offset_ns: int = 0
    drift_frac: float = 0.0

    def moved(self, times_ns: Int64Array) -> Int64Array:
        """The times on the other clock."""
        if not self.drift_frac:
            return times_ns + self.offset_ns
        moved: Int64Array = times_ns + self.offset_ns + np.rint(self.drift_frac * times_ns).astype(np.int64)
        return moved

    def shift_at(self, time_ns: int) -> int:
        """What to add to times around this one."""
        return self.offset_ns + round(self.drift_frac * time_ns)

    def before(self, time_ns: int) -> int:
        """The moment of the first clock that is this one of the other."""
        return round((time_ns - self.offset_ns) / (1 + self.drift_frac))

    def then(self, following: ClockLine) -> ClockLine:
        """Onto the other clock, and from there along its line."""
        drift_frac = self.drift_frac + following.drift_frac * (1 + self.drift_frac)
        return ClockLine(self.offset_ns + following.shift_at(self.offset_ns), drift_frac)

    def inverse(self) -> ClockLine:
        """Back from the other clock."""
        rate = 1 + self.drift_frac
        return ClockLine(round(-self.offset_ns / rate), -self.drift_frac / rate)


def line_through(times_ns: Int64Array, ahead_ns: Int64Array) -> ClockLine:
    """The line that takes away what a clock is ahead at these times, by medians.

    It drifts where the ends of at least ``FEWEST_FOR_DRIFT`` instances part by over 20 us from the first to the last:
    the slope is the median of all slopes between the medians of neighbouring instances (Theil and Sen).
    """
    drift_frac = _slope(times_ns, ahead_ns)
    rest_ns = ahead_ns - drift_frac * times_ns if drift_frac else ahead_ns
    return ClockLine(-round(float(np.median(rest_ns))), -drift_frac)


def _slope(times_ns: Int64Array, ahead_ns: Int64Array) -> float:
    if len(times_ns) < FEWEST_FOR_DRIFT:
        return 0.0
    order = np.argsort(times_ns, kind="stable")
    bins = np.array_split(order, min(len(order), _BINS))
    middles_ns = np.array([(np.median(times_ns[rows]), np.median(ahead_ns[rows])) for rows in bins])
    one, other = np.triu_indices(len(middles_ns), 1)
    spans_ns, rises_ns = (middles_ns[other] - middles_ns[one]).T
    apart = spans_ns > 0
    if not apart.any():
        return 0.0
    slope = float(np.median(rises_ns[apart] / spans_ns[apart]))
    moved_ns = abs(slope) * float(times_ns.max() - times_ns.min())
    return slope if moved_ns > TIE_NS and abs(slope) <= FASTEST_DRIFT_FRAC else 0.0
