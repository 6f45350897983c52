"""Paths of nested ranges against each range's own walk to the top of its nest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.attribution.ranges import tree
from nsysan.timeline.labelling import NOBODY

Path = tuple[int, ...]


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """The parent and the group of each range, rows in any order."""
    count = draw(st.integers(0, 14))
    places = draw(st.permutations(range(count)))
    parents = [NOBODY] * count
    for order, row in enumerate(places):
        above = draw(st.integers(-1, order - 1))
        parents[row] = NOBODY if above < 0 else places[above]
    return parents, draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))


def path_of(row: int, parents: list[int], groups: list[int]) -> Path:
    above = () if parents[row] == NOBODY else path_of(parents[row], parents, groups)
    return (*above, groups[row])


def found_paths(parents: list[int], groups: list[int]) -> tuple[list[int], list[Path]]:
    """The node of each range, and the path of each node; a node's parent must stand before it."""
    node_of, nodes = tree._paths(np.array(parents, np.int64), np.array(groups, np.int64))
    paths: list[Path] = []
    for parent, group in nodes:
        paths.append((group,) if parent == NOBODY else (*paths[parent], group))
    return node_of.tolist(), paths


@pytest.mark.parametrize("wide_levels", [0, 2, 64])
@settings(max_examples=60, deadline=None)
@given(forests())
def test_each_range_is_of_its_own_path(wide_levels: int, forest: tuple[list[int], list[int]]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tree, "_WIDE_LEVELS", wide_levels)
        node_of, paths = found_paths(*forest)

    walked = [path_of(row, *forest) for row in range(len(forest[0]))]
    assert [paths[node] for node in node_of] == walked
    assert sorted(paths) == sorted(set(walked))


def test_ranges_that_all_stay_open_are_a_path_as_deep_as_there_are() -> None:
    count = 5_000
    node_of, nodes = tree._paths(np.arange(-1, count - 1), np.zeros(count, np.int64))

    assert node_of.tolist() == list(range(count))
    assert nodes == [(above, 0) for above in range(-1, count - 1)]
