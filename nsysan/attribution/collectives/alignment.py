"""How two ranks' lists of one kind of operation lie to each other: the shift at which their ends agree best."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from nsysan.attribution.collectives.clock_line import FASTEST_DRIFT_FRAC, FEWEST_FOR_DRIFT, line_through
from nsysan.model.arrays import Int64Array
from nsysan.model.thresholds import TIE_NS

AGREEMENT_NS = 50_000
"""Ends that are further apart, by the median, are not those of one operation."""
_FURTHEST_NS = 10_000_000
"""An end further away says no more than one that is so far: a few such do not outweigh all others."""
_CLOCKS_AGREE_NS = 1_000_000
_SAMPLES = 256
_SHIFTS_AT_ONCE = 512
_CLOSELY_CHECKED = 64
_PART = 16


class Alignment(msgspec.Struct, frozen=True):
    """Entry ``i`` of one list belongs to entry ``i + shift`` of the reference.

    ``offset_ns`` is the median of end - reference's end, ``apart_ns`` the median distance from it, or from 0 where both
    are on one clock; where two clocks drift apart it is that from the line they do by.
    """

    shift: int
    offset_ns: float
    apart_ns: float


def align(reference_ns: Int64Array, ends_ns: Int64Array, *, one_clock: bool) -> Alignment:
    """The shift at which the ends agree best; both lists ascend and hold something.

    At least half of the shorter list has to meet. Of shifts that are equally good the sessions' clocks decide, whose
    times these are: that of the smallest offset counts. Where even that is over 1 ms, which clocks of one machine never
    are apart, more entries that meet are better evidence, and count first.
    """
    shifts = _shifts(len(reference_ns), len(ends_ns))
    if one_clock:
        shifts = _not_outdone(reference_ns, ends_ns, shifts, _SAMPLES)
    fits = _fits(reference_ns, ends_ns, shifts, one_clock=one_clock, sample_count=_SAMPLES)
    everything = max(len(reference_ns), len(ends_ns))
    if everything > _SAMPLES:
        shifts = shifts[_equally_good(fits)[:_CLOSELY_CHECKED]]
        if one_clock:
            shifts = _not_outdone(reference_ns, ends_ns, shifts, everything)
        fits = _fits(reference_ns, ends_ns, shifts, one_clock=one_clock, sample_count=everything)
    best = _best(fits)
    shift = int(shifts[best])
    apart_ns = fits.apart_ns[best] if one_clock else _apart_from_line(reference_ns, ends_ns, shift)
    return Alignment(shift, float(fits.offset_ns[best]), float(apart_ns))


def _apart_from_line(reference_ns: Int64Array, ends_ns: Int64Array, shift: int) -> float:
    """The median distance of ends from the line between two clocks at this shift."""
    first, last = max(-shift, 0), min(len(ends_ns), len(reference_ns) - shift)
    own_ns, other_ns = ends_ns[first:last], reference_ns[first + shift : last + shift]
    return float(np.median(np.abs(line_through(own_ns, own_ns - other_ns).moved(own_ns) - other_ns)))


class _Fits(msgspec.Struct, frozen=True, eq=False):
    """Of each shift the median difference of ends, mean (cut off) and median distance from it, and how many meet.

    The medians are those of the shifts that ``_equally_good`` names; of others they may be infinite.
    """

    offset_ns: np.ndarray
    spread_ns: np.ndarray
    apart_ns: np.ndarray
    met_count: np.ndarray


def _shifts(reference_count: int, count: int) -> Int64Array:
    needed = (min(reference_count, count) + 1) // 2
    return np.arange(needed - count, reference_count - needed + 1)


def _not_outdone(reference_ns: Int64Array, ends_ns: Int64Array, shifts: Int64Array, sample_count: int) -> Int64Array:
    """Those shifts of two lists on one clock that may be equally good as the best, by a sixteenth of the entries.

    What these are apart is the least that all are, so a shift that has more of it already than another has in all can
    be left out.
    """
    least_ns = np.concatenate(
        [_least_spread_ns(reference_ns, ends_ns, shifts[chunk], sample_count) for chunk in _chunks(len(shifts))]
    )
    promising = shifts[[np.argmin(least_ns)]]
    spread_ns = _fits(reference_ns, ends_ns, promising, one_clock=True, sample_count=sample_count).spread_ns
    kept: Int64Array = shifts[least_ns <= spread_ns[0] + TIE_NS]
    return kept


def _least_spread_ns(
    reference_ns: Int64Array, ends_ns: Int64Array, shifts: Int64Array, sample_count: int
) -> np.ndarray:
    first, counts = _met(len(reference_ns), len(ends_ns), shifts)
    width = np.minimum(counts, sample_count)
    chosen = np.arange(int(width.min()) // _PART + 1)
    # some of the entries that are compared then, evenly apart
    steps = chosen * width[:, None] // len(chosen) * counts[:, None] // width[:, None]
    places = first[:, None] + steps
    apart_ns = np.abs(ends_ns[places] - reference_ns[places + shifts[:, None]])
    return np.asarray(np.minimum(apart_ns, _FURTHEST_NS).sum(axis=1) / width)


def _met(reference_count: int, count: int, shifts: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Where the first entry that meets one is at each shift, and how many there are."""
    first = np.maximum(-shifts, 0)
    return first, np.minimum(count, reference_count - shifts) - first


def _equally_good(fits: _Fits) -> Int64Array:
    """The shifts that fit as well as the best, up to the tie, that of the smallest offset first."""
    close = np.flatnonzero(fits.spread_ns <= fits.spread_ns.min() + TIE_NS)
    ordered: Int64Array = close[np.argsort(np.abs(fits.offset_ns[close]), kind="stable")]
    return ordered


def _best(fits: _Fits) -> int:
    close = _equally_good(fits)
    if abs(fits.offset_ns[close[0]]) <= _CLOCKS_AGREE_NS:
        return int(close[0])
    # the first of those that meet most has the smallest offset
    return int(close[np.argmax(fits.met_count[close])])


def _fits(
    reference_ns: Int64Array, ends_ns: Int64Array, shifts: Int64Array, *, one_clock: bool, sample_count: int
) -> _Fits:
    """How well each shift fits, over at most so many entries; medians only of those that fit no worse than the best."""
    fits = _Fits(*(np.full(len(shifts), np.inf) for _ in range(4)))
    best_ns = np.inf
    for chunk in _chunks(len(shifts)):
        first, counts = _met(len(reference_ns), len(ends_ns), shifts[chunk])
        fits.met_count[chunk] = counts
        width = int(min(counts.max(), sample_count))
        # of more entries than the width some evenly apart; where there are fewer the rest is nothing
        steps = np.arange(width) * np.maximum(counts, width)[:, None] // width
        places = first[:, None] + np.minimum(steps, counts[:, None] - 1)
        differences = (ends_ns[places] - reference_ns[places + shifts[chunk][:, None]]).astype(np.float64)
        differences[steps >= counts[:, None]] = np.nan
        distances = np.abs(differences) if one_clock else _from_lines(differences, ends_ns[places], counts)
        spread_ns = np.nanmean(np.minimum(distances, _FURTHEST_NS), axis=1)
        fits.spread_ns[chunk] = spread_ns
        best_ns = min(best_ns, float(spread_ns.min()))
        close = np.flatnonzero(spread_ns <= best_ns + TIE_NS)
        fits.offset_ns[chunk.start + close] = _medians(differences[close])
        fits.apart_ns[chunk.start + close] = _medians(distances[close])
    return fits


def _from_lines(differences: np.ndarray, times_ns: Int64Array, counts: Int64Array) -> np.ndarray:
    """The distance of each difference from its row's median, or from the line by which two clocks drift apart."""
    column = np.arange(differences.shape[1])
    early, late = (
        (np.where(part, differences, np.nan), np.where(part, times_ns, np.nan))
        for part in (column < counts[:, None] / 3, column >= 2 * counts[:, None] / 3)
    )
    rise_ns, span_ns = (_medians(after) - _medians(before) for before, after in zip(early, late, strict=True))
    drifts = (np.minimum(counts, len(column)) >= FEWEST_FOR_DRIFT) & (np.abs(rise_ns) > TIE_NS)
    drifts &= np.abs(rise_ns) <= FASTEST_DRIFT_FRAC * span_ns
    slope = np.where(drifts, rise_ns, 0.0) / np.where(drifts, span_ns, 1.0)
    rest_ns = differences - slope[:, None] * times_ns
    return np.asarray(np.abs(rest_ns - _medians(rest_ns)[:, None]))


def _medians(values: np.ndarray) -> np.ndarray:
    """The median of each row, without what is nan; each has something."""
    ordered = np.sort(values, axis=1)
    counts = np.count_nonzero(~np.isnan(values), axis=1)
    rows = np.arange(len(values))
    return np.asarray((ordered[rows, (counts - 1) // 2] + ordered[rows, counts // 2]) / 2)


def _chunks(count: int) -> Iterator[slice]:
    yield from (slice(begin, begin + _SHIFTS_AT_ONCE) for begin in range(0, count, _SHIFTS_AT_ONCE))


def placed(lists: list[Int64Array], shifts: list[int]) -> Int64Array:
    """The rows of each list (columns) by instance (rows), -1 where a list has none; each instance has some."""
    first = min((shift for rows, shift in zip(lists, shifts, strict=True) if len(rows)), default=0)
    count = max((len(rows) + shift - first for rows, shift in zip(lists, shifts, strict=True)), default=0)
    table = np.full((count, len(lists)), -1, np.int64)
    for column, (rows, shift) in enumerate(zip(lists, shifts, strict=True)):
        table[shift - first : shift - first + len(rows), column] = rows
    return table[(table >= 0).any(axis=1)]


def placed_by_number(lists: list[Int64Array], numbers: list[Int64Array]) -> Int64Array:
    """The same where every row has the number of its instance."""
    values = np.unique(np.concatenate(numbers))
    table = np.full((len(values), len(lists)), -1, np.int64)
    for column, (rows, own) in enumerate(zip(lists, numbers, strict=True)):
        table[np.searchsorted(values, own), column] = rows
    return table
