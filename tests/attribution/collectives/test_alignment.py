"""How two ranks' lists lie to each other: every shift tried by hand, long lists, and ties."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.attribution.collectives.alignment import align, placed, placed_by_number

if TYPE_CHECKING:
    from collections.abc import Sequence

MS = 1_000_000
ENDS = st.lists(st.integers(0, 400), min_size=1, max_size=9).map(
    lambda gaps: [sum(gaps[: place + 1]) * MS for place in range(len(gaps))]
)


def _by_hand(reference: Sequence[int], ends: Sequence[int], *, one_clock: bool) -> int:
    fits = {}
    needed = (min(len(reference), len(ends)) + 1) // 2
    for shift in range(-len(ends), len(reference) + 1):
        pairs = [(end, reference[i + shift]) for i, end in enumerate(ends) if 0 <= i + shift < len(reference)]
        if len(pairs) >= needed:
            differences = [end - other for end, other in pairs]
            middle = statistics.median(differences)
            far = [abs(one - (0 if one_clock else middle)) for one in differences]
            fits[shift] = (statistics.fmean(min(one, 10 * MS) for one in far), abs(middle), len(pairs))
    best = min(spread for spread, _, _ in fits.values())
    close = sorted((offset, shift, met) for shift, (spread, offset, met) in fits.items() if spread <= best + 20_000)
    if close[0][0] <= MS:
        return close[0][1]
    most = max(met for _, _, met in close)
    return next(shift for _, shift, met in close if met == most)


@settings(deadline=None)
@given(reference=ENDS, ends=ENDS, one_clock=st.booleans())
def test_every_shift_tried_by_hand(reference: list[int], ends: list[int], *, one_clock: bool) -> None:
    found = align(np.array(reference), np.array(ends), one_clock=one_clock)

    assert found.shift == _by_hand(reference, ends, one_clock=one_clock)


def test_a_long_list_with_a_begin_cut_off_on_a_clock_that_is_wrong() -> None:
    rng = np.random.default_rng(0)
    ends_ns = np.cumsum(rng.integers(MS, 9 * MS, 20_000))
    noise_ns = rng.integers(-9_000, 9_000, len(ends_ns) - 37)

    found = align(ends_ns, ends_ns[37:] + 40 * MS + noise_ns, one_clock=False)

    assert found.shift == 37
    assert abs(found.offset_ns - 40 * MS) < 500
    assert found.apart_ns < 9_000


def test_of_shifts_equally_good_the_sessions_clocks_choose() -> None:
    regular = np.arange(10) * 5 * MS

    # the second rank lacks the first instance, and its clock is right to 8 us
    assert align(regular, regular[1:] + 8_000, one_clock=False).shift == 1
    # each lacks one, and the clocks say so
    assert align(regular[:-1], regular[1:] + 8_000, one_clock=False).shift == 1
    # clocks that are 7 ms off say nothing: all ten meet
    assert align(regular, regular + 7 * MS, one_clock=False).shift == 0


def test_rows_by_instance() -> None:
    lists = [np.array([10, 11, 12]), np.array([20, 21])]

    assert placed(lists, [0, 1]).tolist() == [[10, -1], [11, 20], [12, 21]]
    assert placed(lists, [0, -1]).tolist() == [[-1, 20], [10, 21], [11, -1], [12, -1]]
    numbered = placed_by_number(lists, [np.array([5, 6, 9]), np.array([6, 7])])
    assert numbered.tolist() == [[10, -1], [11, 20], [-1, 21], [12, -1]]
