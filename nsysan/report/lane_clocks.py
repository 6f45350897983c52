"""Which clock each lane of the timeline is on, where the lanes are of several reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from nsysan.analysis.gpu_time import GpuTime
from nsysan.model.results import Skipped
from nsysan.model.run import ReportInfo, Run
from nsysan.model.units import counted
from nsysan.report.prose import listed

_NAMED_COUNT = 4


class LaneClock(Enum):
    """How a lane comes onto the axis; the values are words that follow ``placed by``."""

    AXIS = "nothing: its clock is the axis"
    COLLECTIVES = "the ends of common collectives"
    HOSTS = "the time of their hosts, which may be off by milliseconds"
    OWN = "the begin of its own session alone"


_PLACED = (LaneClock.COLLECTIVES, LaneClock.HOSTS)


def lane_clocks(run: Run) -> Mapping[str, LaneClock]:
    """The clock of each GPU by its id; nothing where a single report needs no word about it."""
    gpu_time = run.results.get(GpuTime)
    if isinstance(gpu_time, Skipped) or len(run.reports) <= 1:
        return {}
    clocks: dict[str, LaneClock] = {}
    for device in gpu_time.devices:
        clocks.setdefault(device.gpu, _clock_of(device.report, run.reports[device.report]))
    return clocks


def clock_sentences(clocks: Mapping[str, LaneClock]) -> Iterator[str]:
    """What places the lanes on one axis, and which lanes are on it by their own clock alone."""
    placed = [clock.value for clock in _PLACED if clock in clocks.values()]
    if placed:
        yield f"The axis is the clock of the first report; lanes of others are placed on it by {listed(placed)}."
    own = [gpu for gpu, clock in clocks.items() if clock is LaneClock.OWN]
    if own:
        named = listed(own) if len(own) <= _NAMED_COUNT else counted(len(own), "lane")
        whose = "its" if len(own) == 1 else "their"
        yield (
            f"* {named}: on a clock of {whose} own, from the begin of the session. Nothing "
            "recorded relates it to the others, so that what stands below each other need not have been at one time."
        )


def _clock_of(place: int, report: ReportInfo) -> LaneClock:
    if not place:
        return LaneClock.AXIS
    if report.clock_offset_ns is None:
        return LaneClock.OWN
    return LaneClock.HOSTS if report.clock_residual_ns is None else LaneClock.COLLECTIVES
