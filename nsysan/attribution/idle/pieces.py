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
from nsysan.attribution.idle.gaps import EndedGaps, called_gaps, ended_gaps
from nsysan.attribution.idle.handed_over import handing_threads
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.idle.idle_pieces import GapPieces, IdlePieces
from nsysan.attribution.idle.inside_call import pieces_inside
from nsysan.attribution.launch import NO_CALL
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.distinct import summed
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.tables import ABSENT
from nsysan.timeline.intervals import Intervals


class IdleTime(msgspec.Struct, frozen=True, eq=False):
    """Why a GPU was idle: pieces that tile its gaps, in order of time."""

    pieces: IdlePieces

    def causes(self) -> IdleCauses:
        """The time per cause; the causes add up to the idle time."""
        return causes_of(self.pieces)

    def pieces_of_gap(self, start_ns: int, end_ns: int) -> IdlePieces:
        """The pieces of the gap that begins and ends there; they lie side by side."""
        first, last = np.searchsorted(self.pieces.start_ns, (start_ns, end_ns))
        return self.pieces.take(np.arange(first, last))

    def causes_of_gap(self, start_ns: int, end_ns: int) -> dict[Cause, int]:
        """The time of one gap per cause."""
        causes = causes_of(self.pieces_of_gap(start_ns, end_ns))
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
    tids = handing_threads(activities, gaps, hosts, shifts_ns)
    is_handed_over = tids != ABSENT
    others = gaps.take(~is_handed_over)
    explained = _explained(
        activities, ended_gaps(activities, called_gaps(activities, others, hosts, shifts_ns), hosts), threads
    )
    return IdleTime(_merged(_handed_over(gaps, tids, is_handed_over), explained).narrowed())


def _handed_over(gaps: Intervals, tids: Int64Array, chosen: BoolArray) -> IdlePieces:
    cause = np.broadcast_to(np.int64(code_of(Cause.HANDOVER)), int(chosen.sum()))
    return IdlePieces(gaps.start_ns[chosen], gaps.end_ns[chosen], cause, tids[chosen])


def _explained(activities: Activities, gaps: EndedGaps, threads: Mapping[int, HostThreads]) -> IdlePieces:
    """The pieces of these gaps by the rules."""
    report_of = np.where(gaps.activity < 0, -1, activities.report[np.maximum(gaps.activity, 0)])
    called = gaps.call != NO_CALL
    pieces = [_uncalled(gaps.take(~called))]
    for report, of_report in threads.items():
        chosen = gaps.take(called & (report_of == report))
        pieces += [rule(chosen, of_report) for rule in (pieces_before, pieces_inside, pieces_after)]
    return GapPieces.concatenate(pieces).on_gpu_clock(gaps.shift_ns)


def _uncalled(gaps: EndedGaps) -> GapPieces:
    """Gaps that no known call ended: the driver itself moved unified memory, else nothing is known."""
    cause = np.where(gaps.is_unified_copy == 1, code_of(Cause.UNIFIED_MEMORY), code_of(Cause.UNKNOWN))
    return GapPieces(gaps.start_ns, gaps.end_ns, cause, np.full(len(gaps), ABSENT), gaps.gap)


def _merged(many: IdlePieces, few: IdlePieces) -> IdlePieces:
    """Both in order of time, in which each lies already."""
    own = np.searchsorted(many.start_ns, few.start_ns) + np.arange(len(few))
    is_other = np.ones(len(many) + len(few), np.bool_)
    is_other[own] = False
    merged = {name: np.empty(len(is_other), column.dtype) for name, column in many.columns().items()}
    for name, column in merged.items():
        column[is_other], column[own] = getattr(many, name), getattr(few, name)
    return IdlePieces(**merged)
