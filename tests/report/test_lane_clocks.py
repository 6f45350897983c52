"""What is said of the clocks of the timeline's lanes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from nsysan.model.partition import PartTimes
from nsysan.model.run import ReportInfo, Run
from nsysan.report.lane_clocks import LaneClock, clock_sentences, lane_clocks
from tests.report.gpu_times import device, gpu, gpu_time
from tests.report.runs import REPORT, run_of

FIRST = replace(REPORT, clock_offset_ns=0, clock_residual_ns=None)
BY_HOST = replace(FIRST, clock_offset_ns=-7)
BY_COLLECTIVES = replace(FIRST, clock_offset_ns=-7, clock_residual_ns=300)
APART = replace(FIRST, clock_offset_ns=None)


def run_with(reports: Sequence[ReportInfo]) -> Run:
    """A GPU of each report."""
    gpus = [gpu(f"gpu{place}", PartTimes(1, 0, 0, 0, 0, 0, 0)) for place in range(len(reports))]
    devices = [replace(device(f"gpu{place}/p100", each), report=place) for place, each in enumerate(gpus)]
    return replace(run_of(gpu_time(gpus, devices)), reports=tuple(reports))


def test_lanes_of_one_report_need_no_word() -> None:
    assert lane_clocks(run_with([FIRST])) == {}


def test_each_lane_has_the_clock_of_its_report() -> None:
    assert lane_clocks(run_with([FIRST, BY_HOST, BY_COLLECTIVES, APART])) == {
        "gpu0": LaneClock.AXIS,
        "gpu1": LaneClock.HOSTS,
        "gpu2": LaneClock.COLLECTIVES,
        "gpu3": LaneClock.OWN,
    }


def test_what_the_lanes_share_and_what_not_is_said() -> None:
    told = [list(clock_sentences(lane_clocks(run_with([FIRST, each])))) for each in (BY_COLLECTIVES, APART)]
    by_ends = (
        "The axis is the clock of the first report; lanes of others are placed on it by the ends of common collectives."
    )
    apart = (
        "* gpu1: on a clock of its own, from the begin of the session. Nothing recorded relates it to the others, so "
        "that what stands below each other need not have been at one time."
    )

    assert told == [
        [by_ends],
        [apart],
    ]
