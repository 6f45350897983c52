"""How much idle time of each cause lies between any two moments."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.idle.codes import CAUSES
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.model.arrays import Int64Array
from nsysan.timeline.coverage import KindPieces, sums_before

CAUSES_LAST_FIRST = CAUSES[::-1]
"""The causes from the last to the first: those that every trace has then come first, and pack into few bytes."""
_ITSELF = np.arange(len(CAUSES), dtype=np.int8)


def cause_coverage(idle: IdlePieces, edges_ns: Int64Array) -> Int64Array:
    """Nanoseconds of each cause (columns, as ``CAUSES_LAST_FIRST``) in each stretch between two edges (rows).

    As for parts: what passed before a moment is the sum of the pieces that ended by then, and what has passed of the
    one that holds. The pieces are in order of time and do not overlap.
    """
    if not len(idle):
        return no_causes(edges_ns)
    holding = np.searchsorted(idle.start_ns, edges_ns, side="right") - 1
    # before the first piece none holds, and nothing has passed
    passed_ns = np.where(holding < 0, 0, np.minimum(edges_ns, idle.end_ns[holding]) - idle.start_ns[holding])
    holding = np.maximum(holding, 0)
    before_ns = sums_before(KindPieces(idle.start_ns, idle.end_ns, idle.cause, _ITSELF), len(CAUSES), holding)
    before_ns[np.arange(len(edges_ns)), idle.cause[holding]] += passed_ns
    return np.diff(before_ns, axis=0)[:, ::-1]


def cause_edges(idle: IdlePieces) -> Int64Array:
    """The moments inside idle time at which the cause changes."""
    changes = (np.diff(idle.cause) != 0) & (idle.start_ns[1:] == idle.end_ns[:-1])
    edges_ns: Int64Array = idle.start_ns[1:][changes]
    return edges_ns


def no_causes(edges_ns: Int64Array) -> Int64Array:
    """No time of any cause in any stretch."""
    return np.zeros((len(edges_ns) - 1, len(CAUSES)), np.int64)
