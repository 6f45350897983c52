"""Idle time inside the call that launched the work ending the gap."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.idle.codes import code_of
from nsysan.attribution.idle.gaps import EndedGaps
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.idle.idle_pieces import GapPieces
from nsysan.model.distinct import distinct
from nsysan.model.idle import Cause
from nsysan.timeline.labelling import NOBODY


def pieces_inside(gaps: EndedGaps, threads: HostThreads) -> GapPieces:
    """The pieces between begin and end of the calls: the profiler's, then what the call is, else ``launch_latency``."""
    gaps = gaps.take(np.flatnonzero(gaps.call_return_ns > gaps.call_begin_ns))
    tids, own_cause = threads.host.calls.global_tid[gaps.call], threads.host.call_causes[gaps.call]
    cause = np.where(own_cause == NOBODY, code_of(Cause.LAUNCH_LATENCY), own_cause)
    found = []
    for tid in distinct(tids).tolist():
        rows = np.flatnonzero(tids == tid)
        labels = threads.of(tid).overhead_labels
        pieces = labels.pieces(gaps.call_begin_ns[rows], gaps.call_return_ns[rows])
        of_gap = rows[pieces.asked]
        causes = np.where(pieces.labels == NOBODY, cause[of_gap], pieces.labels)
        found.append(GapPieces(pieces.start_ns, pieces.end_ns, causes, np.full(len(of_gap), tid), gaps.gap[of_gap]))
    return GapPieces.concatenate(found)
