"""A curve of a collective as few straight pieces, for people and for models: t = alpha + beta S in each.

One such line is wrong by up to 94 % on published curves, because NCCL changes protocol and algorithm with size; so the
measured points are what is looked up (``collective_ceilings``), and a fit is never without its error.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec


class Piece(msgspec.Struct, frozen=True):
    """A stretch of sizes: a time to start with and a rate. ``ns_per_byte`` 0: the size does not matter."""

    first_bytes: int
    last_bytes: int
    start_ns: float
    ns_per_byte: float


class Fit(msgspec.Struct, frozen=True):
    """The pieces in order of size, and how far the fit is off: the largest and the root mean square, as shares."""

    pieces: tuple[Piece, ...]
    error_most_frac: float
    error_rms_frac: float


def fit_pieces(sizes_bytes: Sequence[int], times_ns: Sequence[float], piece_count: int) -> Fit:
    """The pieces, at most so many, with the least sum of squared relative errors over all ways to cut the sizes.

    Neither a start nor a rate is negative. Raises ValueError where there are no points.
    """
    if not sizes_bytes:
        raise ValueError("a curve without points has no fit")
    count = len(sizes_bytes)

    @cache
    def line(first: int, last: int) -> tuple[float, float, float]:
        return _line(sizes_bytes[first:last], times_ns[first:last])

    @cache
    def best(last: int, pieces: int) -> tuple[float, tuple[int, ...]]:
        """The error of the first ``last`` points in at most so many pieces, and where these begin."""
        whole = (line(0, last)[2], (0,))
        if pieces == 1:
            return whole
        cuts = range(1, last)
        choices = [(best(cut, pieces - 1)[0] + line(cut, last)[2], (*best(cut, pieces - 1)[1], cut)) for cut in cuts]
        return min([whole, *choices])

    begins = best(count, piece_count)[1]
    spans = list(zip(begins, [*begins[1:], count], strict=True))
    pieces = tuple(Piece(sizes_bytes[a], sizes_bytes[b - 1], *line(a, b)[:2]) for a, b in spans)
    errors = [
        (piece.start_ns + piece.ns_per_byte * sizes_bytes[place]) / times_ns[place] - 1
        for piece, (a, b) in zip(pieces, spans, strict=True)
        for place in range(a, b)
    ]
    rms = (sum(error * error for error in errors) / count) ** 0.5
    return Fit(pieces, max(map(abs, errors)), rms)


def _line(sizes: Sequence[int], times: Sequence[float]) -> tuple[float, float, float]:
    """Start, slope and squared error of the line with the least relative error; at a bound where it would pass it."""
    # each point is divided by its time: 1 = alpha / t + beta S / t
    rows = [(1 / time, size / time) for size, time in zip(sizes, times, strict=True)]
    aa, ab, bb = (sum(x[i] * x[j] for x in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    a1, b1 = sum(x[0] for x in rows), sum(x[1] for x in rows)
    determinant = aa * bb - ab * ab
    choices = [(a1 / aa, 0.0), (0.0, b1 / bb)]
    if determinant > 1e-12 * aa * bb:
        both = ((a1 * bb - b1 * ab) / determinant, (b1 * aa - a1 * ab) / determinant)
        choices = [both] if min(both) >= 0 else choices
    return min(
        ((alpha, beta, sum((alpha * x[0] + beta * x[1] - 1) ** 2 for x in rows)) for alpha, beta in choices),
        key=lambda line: line[2],
    )
