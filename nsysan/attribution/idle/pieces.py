"""The idle time of a GPU in pieces of one cause each: the rules in their order, over all gaps at once."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.host import Host
from nsysan.attribution.idle.after_call import pieces_after
from nsysan.attribution.idle.before_call import pieces_before
from nsysan.attribution.idle.codes import CAUSES, code_of
from nsysan.attribution.idle.gaps import EndedGaps, LaunchedWork, ended_gaps
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.attribution.idle.inside_call import pieces_inside
from nsysan.attribution.launch import NO_CALL
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import summed
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.tables import ABSENT, Table
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.ordering import order_of


class GapEnds(Table, frozen=True):
    """What ended each gap of a GPU, in order of time: all that is kept of it once the gap's causes are known.

    ``activity`` is a position among the GPU's activities (``NO_ACTIVITY``), ``call`` a row of the calls of that
    activity's report (``NO_CALL``); ``shift_ns`` added to the report's times puts them on the GPU's clock.
    """

    activity: Int64Array
    call: Int64Array
    shift_ns: Int64Array


class IdleTime(msgspec.Struct, frozen=True, eq=False):
    """Why a GPU was idle: what ended its gaps, and the pieces that tile them, in order of time."""

    ends: GapEnds
    pieces: IdlePieces

    def causes(self) -> IdleCauses:
        """The time per cause; the causes add up to the idle time."""
        return causes_of(self.pieces)

    def pieces_of_gap(self, gap: int) -> IdlePieces:
        """The pieces of one gap, which lie side by side."""
        gaps = self.pieces.gap
        return self.pieces.take(np.arange(np.searchsorted(gaps, gap), np.searchsorted(gaps, gap, side="right")))

    def span_of_gap(self, gap: int) -> tuple[int, int]:
        """Begin and end of one gap."""
        pieces = self.pieces_of_gap(gap)
        return int(pieces.start_ns[0]), int(pieces.end_ns[-1])

    def causes_of_gap(self, gap: int) -> dict[Cause, int]:
        """The time of one gap per cause."""
        causes = causes_of(self.pieces_of_gap(gap))
        return {cause: causes.of(cause) for cause in Cause}


def causes_of(pieces: IdlePieces) -> IdleCauses:
    """The time of the pieces per cause."""
    times_ns = summed(pieces.end_ns - pieces.start_ns, pieces.cause, len(CAUSES))
    return IdleCauses.of_times(dict(zip(CAUSES, times_ns.tolist(), strict=True)))


def attribute_idle(
    activities: Activities, gaps: Intervals, threads: Mapping[int, HostThreads], shifts_ns: Mapping[int, int]
) -> IdleTime:
    """The idle time of a GPU by cause.

    ``threads`` are those of each report with work on the GPU. ``activities`` and ``gaps`` are on the GPU's clock, on
    which ``shifts_ns`` puts the times of each report when added to them.
    """
    hosts: dict[int, Host] = {report: found.host for report, found in threads.items()}
    ended = ended_gaps(LaunchedWork.of(activities, hosts), gaps, hosts, shifts_ns)
    report_of = np.where(ended.activity < 0, -1, activities.report[np.maximum(ended.activity, 0)])
    called = ended.call != NO_CALL
    pieces = [_uncalled(ended.take(~called))]
    for report, of_report in threads.items():
        chosen = ended.take(called & (report_of == report))
        pieces += [rule(chosen, of_report) for rule in (pieces_before, pieces_inside, pieces_after)]
    ends = GapEnds(ended.activity, ended.call, ended.shift_ns).narrowed()
    return IdleTime(ends, _on_gpu_clock(IdlePieces.concatenate(pieces), ended).narrowed())


def _uncalled(gaps: EndedGaps) -> IdlePieces:
    """Gaps that no known call ended: the driver itself moved unified memory, else nothing is known."""
    cause = np.where(gaps.is_unified_copy == 1, code_of(Cause.UNIFIED_MEMORY), code_of(Cause.UNKNOWN))
    return IdlePieces(gaps.start_ns, gaps.end_ns, gaps.gap, cause, np.full(len(gaps), ABSENT))


def _on_gpu_clock(pieces: IdlePieces, gaps: EndedGaps) -> IdlePieces:
    """The pieces in order of time, those that differ in nothing but their time as one."""
    moved = pieces.shifted(gaps.shift_ns[pieces.gap]) if gaps.shift_ns.any() else pieces
    return moved.take(order_of(moved.start_ns)).joined()
