"""Times of two labels at once, and what is on top of layers, against a look at every moment."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.timeline.joint_times import joint_times
from nsysan.timeline.labelling import NOBODY, Labelling
from nsysan.timeline.layers import topmost

COUNTS = (2, 3)
Change = tuple[int, int]
Interval = tuple[int, int, int]

moments = st.integers(-5, 30)
edges = st.lists(moments, min_size=2, max_size=6, unique=True).map(sorted)


def changes(label_count: int) -> st.SearchStrategy[list[Change]]:
    """Moments from which on a label holds."""
    labels = st.integers(NOBODY, label_count - 1)
    return st.dictionaries(moments, labels, max_size=8).map(lambda drawn: sorted(drawn.items()))


def labelling(of: list[Change]) -> Labelling:
    """The step function, whose last label must be nobody's."""
    of = [*of, (40, NOBODY)]
    return Labelling(*(np.array(column, np.int64) for column in zip(*of, strict=True)))


@pytest.mark.usefixtures("mode")
@given(edges, changes(COUNTS[0]), changes(COUNTS[1]))
def test_every_moment_of_a_stretch_counts_for_its_two_labels(
    edges_ns: list[int], one: list[Change], other: list[Change]
) -> None:
    expected = np.zeros((len(edges_ns) - 1, COUNTS[0] + 1, COUNTS[1] + 1), int)
    for stretch, (begin, end) in enumerate(pairwise(edges_ns)):
        for moment in range(begin, end):
            first, second = (next((label for at, label in of[::-1] if at <= moment), NOBODY) for of in (one, other))
            expected[stretch, first, second] += 1

    found = joint_times(np.array(edges_ns), labelling(one), labelling(other), COUNTS)

    assert found.tolist() == expected.tolist()


@pytest.mark.usefixtures("mode")
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=12))
def test_on_top_is_the_first_layer_and_in_it_what_began_first(drawn: list[Interval]) -> None:
    of = sorted((start, start + length, layer) for start, length, layer in drawn)
    start_ns, end_ns, layers = (np.array(column, np.int64) for column in zip(*of, strict=True))

    found = topmost(start_ns, end_ns, layers, 3)

    for moment in range(-1, 32):
        holding = [row for row, (start, end, _) in enumerate(of) if start <= moment < end]
        # of equal begins the longest, of equal intervals the first
        best = min(holding, key=lambda row: (of[row][2], of[row][0], -of[row][1], row), default=NOBODY)
        assert found.at(np.array([moment])).tolist() == [best]
    assert not ((found.labels[1:] == NOBODY) & (found.labels[:-1] == NOBODY)).any()
