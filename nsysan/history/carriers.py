"""What carries the change of a whole: the finest pieces that still add up to it in both runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from nsysan.history.differences import Difference, TopicDifferences
from nsysan.model.figures import Better, Unit

_ADDS_UP_FRAC = 0.001
_DIGITS = 9
_CUT_NS = 2.0
"""Means are cut to whole nanoseconds, so that even equal sums may be so far apart."""


def carriers_of(whole: Difference, topics: Iterable[TopicDifferences]) -> tuple[Difference, ...]:
    """The pieces whose changes add up to that of ``whole``, the largest change first; none where nothing adds up.

    A piece is divided further, such as idle time into its causes, where what it consists of adds up to it in both runs;
    not so one that is neither good nor bad, for then none of its pieces is.
    """
    everything = [difference for topic in topics for difference in topic.differences]
    pieces = _pieces(whole, everything)
    # what differs by rounding alone stays in its order
    return tuple(sorted(pieces, key=lambda piece: -round(abs(piece.change or 0.0), _DIGITS)))


def _pieces(whole: Difference, everything: Sequence[Difference]) -> Iterator[Difference]:
    inner = [one for one in everything if one.part_of == whole.id and one.change is not None]
    slack = _CUT_NS if whole.unit is Unit.NS else 0.0
    in_both = ((whole.before, [one.before for one in inner]), (whole.after, [one.after for one in inner]))
    if not inner or not all(_adds_up(total, pieces, slack) for total, pieces in in_both):
        return
    for piece in inner:
        finer = () if piece.better is Better.NEITHER else tuple(_pieces(piece, everything))
        yield from finer or (piece,)


def _adds_up(whole: float | None, pieces: Sequence[float | None], slack: float) -> bool:
    if whole is None:
        return False
    return abs(sum(piece or 0.0 for piece in pieces) - whole) <= max(_ADDS_UP_FRAC * abs(whole), slack)
