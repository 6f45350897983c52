"""Which stretch of time is judged: first to last activity, unless the user gives another."""

from __future__ import annotations

import msgspec

from nsysan.attribution.activities import Activities
from nsysan.attribution.ranges.chosen import range_span_ns
from nsysan.model.errors import UsageError
from nsysan.model.trace import Trace
from nsysan.model.units import format_timestamp


class WindowChoice(msgspec.Struct, frozen=True):
    """What the user asked for; ``from_ns`` and ``to_ns`` are session times, ``nvtx_range`` is NAME[@DOMAIN][/INDEX].

    Raises UsageError where the parts contradict each other.
    """

    from_ns: int | None = None
    to_ns: int | None = None
    nvtx_range: str | None = None

    def __post_init__(self) -> None:
        if self.nvtx_range is not None and (self.from_ns, self.to_ns) != (None, None):
            raise UsageError("--range gives both ends of the window.", "Leave out --from and --to, or --range.")
        if self.from_ns is not None and self.to_ns is not None and self.from_ns >= self.to_ns:
            raise UsageError(
                f"The window ends at {format_timestamp(self.to_ns)}, "
                f"not after its begin at {format_timestamp(self.from_ns)}.",
                "Give --from a time before --to.",
            )

    def moved(self, shift_ns: int) -> WindowChoice:
        """The same bounds on a clock that reads ``shift_ns`` more."""
        from_ns = None if self.from_ns is None else self.from_ns + shift_ns
        return WindowChoice(from_ns, None if self.to_ns is None else self.to_ns + shift_ns)


def bounds_of(choice: WindowChoice, trace: Trace, last_work_ns: int = 0) -> WindowChoice:
    """The choice as times of this trace: its NVTX range resolved, its ends inside the capture where that is known.

    NAME alone spans from the first begin to the last end of its ranges; /INDEX picks one of each process, counted from
    0 in order of begin. A window that begins after the capture has ended holds nothing of it. Raises UsageError where
    the trace holds no such range.

    The capture lasts at least until ``last_work_ns``: on a busy machine nsys 2023.4 states a length that ends before
    its last records do.
    """
    if choice.nvtx_range is not None:
        return WindowChoice(*range_span_ns(choice.nvtx_range, trace))
    from_ns = None if choice.from_ns is None else max(choice.from_ns, 0)
    if choice.to_ns is None or trace.capture_ns is None:
        return WindowChoice(from_ns, choice.to_ns)
    capture_ns = max(trace.capture_ns, last_work_ns)
    if from_ns is not None and from_ns >= capture_ns:
        return WindowChoice(from_ns)
    return WindowChoice(from_ns, min(choice.to_ns, capture_ns))


def window_over(activities: Activities, bounds: WindowChoice) -> tuple[int, int]:
    """First to last activity, each end replaced by the user's bound; empty where the bounds leave nothing."""
    start_ns = int(activities.start_ns.min()) if bounds.from_ns is None else bounds.from_ns
    end_ns = int(activities.end_ns.max()) if bounds.to_ns is None else bounds.to_ns
    return (start_ns, max(start_ns, end_ns)) if bounds.from_ns is not None else (min(start_ns, end_ns), end_ns)
