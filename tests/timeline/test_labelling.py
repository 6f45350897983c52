"""Labels over time against a naive look at every moment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.timeline.labelling import NOBODY, Labelling, depths_of, first_come, innermost, nest_of, overlaid

Intervals = list[tuple[int, int]]

intervals = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)).map(lambda d: (d[0], d[0] + d[1])), max_size=12)
MOMENTS = np.arange(-2, 45)


@st.composite
def nested(draw: st.DrawFn) -> Intervals:
    """Intervals that open and close like brackets."""
    found: Intervals = []
    open_at: list[int] = []
    now = 0
    for opens in draw(st.lists(st.booleans(), max_size=24)):
        now += draw(st.integers(0, 2))
        if opens:
            open_at.append(now)
        elif open_at:
            found.append((open_at.pop(), now))
    return found + [(start, now) for start in open_at]


def columns(of: Intervals) -> tuple[np.ndarray, np.ndarray]:
    return np.array([start for start, _ in of], np.int64), np.array([end for _, end in of], np.int64)


def holding(of: Intervals, moment: int) -> list[int]:
    return [row for row, (start, end) in enumerate(of) if start <= moment < end]


@pytest.mark.usefixtures("mode")
@settings(deadline=None)
@given(intervals | nested())
def test_innermost_began_last(of: Intervals) -> None:
    found = innermost(*columns(of)).at(MOMENTS).tolist()

    for moment, row in zip(MOMENTS.tolist(), found, strict=True):
        rows = holding(of, moment)
        # of equal begins the shortest; equal intervals are not told apart
        best = max(((of[other][0], -of[other][1]) for other in rows), default=None)
        assert (None if row == NOBODY else (of[row][0], -of[row][1])) == best


@settings(deadline=None)
@given(intervals)
def test_first_come_began_first(of: Intervals) -> None:
    """What holds the thread keeps it until its end: a later interval shows only beyond it."""
    found = first_come(*columns(of)).at(MOMENTS).tolist()

    order = sorted((row for row in range(len(of)) if of[row][1] > of[row][0]), key=lambda r: (of[r][0], -of[r][1]))
    for moment, row in zip(MOMENTS.tolist(), found, strict=True):
        expected = next((other for other in order if of[other][0] <= moment < of[other][1]), None)
        assert (None if row == NOBODY else of[row]) == (None if expected is None else of[expected])


@settings(deadline=None)
@given(st.lists(intervals, min_size=1, max_size=3))
def test_the_first_layer_with_a_label_shows(layers: list[Intervals]) -> None:
    labellings = [first_come(*columns(of)) for of in layers]

    found = overlaid(labellings).at(MOMENTS)

    for moment, label in zip(MOMENTS.tolist(), found.tolist(), strict=True):
        labels = [int(layer.at(np.array([moment]))[0]) for layer in labellings]
        assert label == next((one for one in labels if one != NOBODY), NOBODY)


@settings(deadline=None)
@given(intervals, intervals)
def test_pieces_tile_what_was_asked_and_have_one_label(of: Intervals, asked: Intervals) -> None:
    labelling = first_come(*columns(of))

    pieces = labelling.pieces(*columns(asked))

    tiles: dict[int, list[int]] = {row: [] for row in range(len(asked))}
    for row, start, end, label in zip(
        pieces.asked.tolist(), pieces.start_ns.tolist(), pieces.end_ns.tolist(), pieces.labels.tolist(), strict=True
    ):
        tiles[row] += list(range(start, end))
        assert set(labelling.at(np.arange(start, end)).tolist()) == {label}
    assert tiles == {row: list(range(start, end)) for row, (start, end) in enumerate(asked)}


def test_nothing_is_labelled_without_intervals() -> None:
    nothing = np.empty(0, np.int64)

    for found in (innermost(nothing, nothing), first_come(nothing, nothing), overlaid([])):
        assert isinstance(found, Labelling)
        assert found.at(np.array([5])).tolist() == [NOBODY]
        assert found.pieces(np.array([1]), np.array([4])).end_ns.tolist() == [4]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 30)), max_size=20))
def test_depth_is_how_many_intervals_hold_at_the_begin(drawn: list[tuple[int, int]]) -> None:
    of = sorted(((start, start + length) for start, length in drawn), key=lambda each: (each[0], -each[1]))
    expected = [sum(end > of[row][0] for _, end in of[:row]) for row in range(len(of))]

    assert depths_of(*columns(of)).tolist() == expected


@pytest.mark.usefixtures("mode")
@settings(deadline=None)
@given(intervals | nested())
def test_a_parent_is_the_innermost_that_holds_at_the_begin(of: Intervals) -> None:
    order = sorted((row for row in range(len(of)) if of[row][1] > of[row][0]), key=lambda r: (of[r][0], -of[r][1]))
    found = nest_of(*columns(of)).parents.tolist()

    for place, row in enumerate(order):
        # of those before it in order the last that holds; equal intervals are not told apart
        expected = next((of[other] for other in reversed(order[:place]) if of[other][1] > of[row][0]), None)
        assert (None if found[row] == NOBODY else of[found[row]]) == expected
    assert all(found[row] == NOBODY for row in range(len(of)) if row not in order)
