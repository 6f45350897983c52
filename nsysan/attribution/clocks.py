"""How the clocks of several reports relate: each report counts from the start of its own session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsysan.attribution.activities import Activities
from nsysan.model.trace import Trace


@dataclass(frozen=True, slots=True)
class Clock:
    """A report's session on the axis of the first report: when it begins and how long the capture lasts.

    ``offset_ns`` is what to add to the report's times, by the sessions' starts in UTC; it is good to the hosts' clock
    error only, one to tens of ms between machines. Either is null where the report does not tell it.
    """

    offset_ns: int | None
    capture_ns: int | None

    def overlaps(self, other: Clock) -> bool:
        """Whether both captures are known to share some time."""
        if self.offset_ns is None or other.offset_ns is None or self.capture_ns is None or other.capture_ns is None:
            return False
        return (
            self.offset_ns < other.offset_ns + other.capture_ns and other.offset_ns < self.offset_ns + self.capture_ns
        )


def clocks_of(traces: Sequence[Trace]) -> list[Clock]:
    """The clock of each trace; the first one's offset is 0."""
    starts = [trace.session_start_utc_ns for trace in traces]
    offsets = [None if start is None or starts[0] is None else start - starts[0] for start in starts]
    return [Clock(offset, trace.capture_ns) for offset, trace in zip([0, *offsets[1:]], traces, strict=True)]


def shifted(activities: Activities, own: Clock, target: Clock) -> Activities:
    """The activities with their times moved from one clock to another; as they are where the shift is unknown."""
    if own is target or own.offset_ns is None or target.offset_ns is None:
        return activities
    shift_ns = own.offset_ns - target.offset_ns
    moved = {"start_ns": activities.start_ns + shift_ns, "end_ns": activities.end_ns + shift_ns}
    return Activities(**{**activities.columns(), **moved})
