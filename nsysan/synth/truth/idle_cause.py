"""Why a simulated GPU was idle: what its host thread was doing then, which the simulation knows.

A gap is cut at the begin and the end of the call that launched the work ending it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from nsysan.synth.simulation.timelines import Call, GpuWork, RankTimeline, Span
from nsysan.synth.truth.busy import Interval, idle_gaps

HANDOVER_NS = 20_000
"""The longest time from a call's return to its work's start that counts as handing over."""
LONGEST_RESTART_NS = 1_000_000
"""The longest refill that still counts as the cost of the synchronisation before it."""
_WAITS_FOR_GPU = ("host_sync", "blocking_copy")

CauseTimes = Counter[str]


def idle_causes(timeline: RankTimeline) -> CauseTimes:
    """Idle time per cause of the rank's GPU; the causes add up to its idle time."""
    host = _HostThread(timeline.spans)
    first_work = _first_launched_by_start(timeline.works)
    times: CauseTimes = Counter()
    for gap in idle_gaps(timeline.works):
        times += host.causes(gap, first_work[gap[1]].call)
    return times


def _first_launched_by_start(works: tuple[GpuWork, ...]) -> dict[int, GpuWork]:
    """By start time, the work that starts then; of several the one called first."""
    return {work.start_ns: work for work in sorted(works, key=lambda work: work.call.start_ns, reverse=True)}


class _HostThread:
    """The spans of a thread, which leave no time between them."""

    def __init__(self, spans: tuple[Span, ...]) -> None:
        self._spans = spans
        self._ends_ns = [span.end_ns for span in spans]

    def causes(self, gap: Interval, launch: Call) -> CauseTimes:
        """The gap, by cause, where ``launch`` called the work that ends it."""
        start_ns, end_ns = gap
        begin_ns = min(max(launch.start_ns, start_ns), end_ns)
        return_ns = min(max(launch.end_ns, begin_ns), end_ns)
        times = self._before((start_ns, begin_ns), launch)
        times[launch.cause or "launch_latency"] += return_ns - begin_ns
        handed_over_ns = min(return_ns + HANDOVER_NS, end_ns)
        times["handover" if launch.end_ns <= start_ns else "launch_latency"] += handed_over_ns - return_ns
        times["device_wait"] += end_ns - handed_over_ns
        return +times

    def _before(self, gap: Interval, launch: Call) -> CauseTimes:
        """The part of a gap before the launch begins, by what holds the thread up.

        What the thread does on the way to a load counts as loading; the rest is restart or starving.
        """
        restart_ns = self._restart(gap, launch)
        loaded_ns = max((span.end_ns for span in self._during(gap) if span.cause == "module_loading"), default=gap[0])
        times: CauseTimes = Counter()
        for span in self._during(gap):
            start_ns, end_ns = max(span.start_ns, gap[0]), min(span.end_ns, gap[1])
            if span.cause is not None:
                times[span.cause] += end_ns - start_ns
            elif end_ns <= loaded_ns:
                times["module_loading"] += end_ns - start_ns
            else:
                cut_ns = min(max(restart_ns, start_ns), end_ns)
                times["launch_starved"] += cut_ns - start_ns
                times["host_sync"] += end_ns - cut_ns
        return times

    def _restart(self, gap: Interval, launch: Call) -> int:
        """From when on the thread refills the GPU after a wait for it, or the gap's end if it does not."""
        waits = [
            span.end_ns
            for span in self._during((gap[0] - HANDOVER_NS, gap[1]))
            if span.cause in _WAITS_FOR_GPU and span.start_ns < gap[0]
        ]
        last_ns = max(waits, default=gap[1])
        return last_ns if launch.start_ns - last_ns <= LONGEST_RESTART_NS else gap[1]

    def _during(self, interval: Interval) -> Iterator[Span]:
        """The spans that overlap ``interval`` or end where it begins."""
        for position in range(bisect_left(self._ends_ns, interval[0]), len(self._spans)):
            if self._spans[position].start_ns >= interval[1]:
                return
            yield self._spans[position]
