"""How the clocks of several reports relate: each report counts from the start of its own session."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from nsysan.attribution.activities import Activities
from nsysan.model.trace import IMPOSSIBLE_NS, Trace


class Clock(msgspec.Struct, frozen=True):
    """A report's session on the axis of the first report: when it begins and how long the capture lasts.

    ``offset_ns`` is what to add to the report's times, by the sessions' starts in UTC; it is good to the hosts' clock
    error only, one to tens of ms between machines. Where common collectives show a drift it is that of the session's
    begin, and grows by ``drift_frac`` of the time since. Offset and length are null where the report does not tell
    them, the offset also for a session more than ten days away, which shares no time with the first.
    """

    offset_ns: int | None
    capture_ns: int | None
    drift_frac: float = 0.0

    def overlaps(self, other: Clock) -> bool:
        """Whether both captures are known to share some time."""
        if self.offset_ns is None or other.offset_ns is None or self.capture_ns is None or other.capture_ns is None:
            return False
        return (
            self.offset_ns < other.offset_ns + other.capture_ns and other.offset_ns < self.offset_ns + self.capture_ns
        )

    def at(self, time_ns: int) -> Clock:
        """The clock as it is around a time of its own: with the offset of then, and no drift."""
        offset_ns = None if self.offset_ns is None else self.offset_ns + round(self.drift_frac * time_ns)
        return replace(self, offset_ns=offset_ns, drift_frac=0.0)

    def shift_to(self, other: Clock) -> int:
        """What to add to times of this clock to have them on the other; 0 where that is unknown."""
        if self.offset_ns is None or other.offset_ns is None:
            return 0
        return self.offset_ns - other.offset_ns


def clocks_of(traces: Sequence[Trace]) -> list[Clock]:
    """The clock of each trace; the first one's offset is 0."""
    starts = [trace.session_start_utc_ns for trace in traces]
    offsets = [_offset(starts[0], start) for start in starts[1:]]
    return [Clock(offset, trace.capture_ns) for offset, trace in zip([0, *offsets][: len(traces)], traces, strict=True)]


def _offset(first_utc_ns: int | None, utc_ns: int | None) -> int | None:
    if first_utc_ns is None or utc_ns is None or abs(utc_ns - first_utc_ns) > IMPOSSIBLE_NS:
        return None
    return utc_ns - first_utc_ns


def shifted(activities: Activities, shift_ns: int) -> Activities:
    """The activities with their times moved."""
    if shift_ns == 0:
        return activities
    return replace(activities, start_ns=activities.start_ns + shift_ns, end_ns=activities.end_ns + shift_ns)
