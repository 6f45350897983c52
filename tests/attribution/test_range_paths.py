"""Paths of nested ranges against each range's own walk to the top of its nest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.attribution.ranges import tree
from nsysan.timeline import numbered_paths
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


@pytest.mark.parametrize("runs_as", ["plain", "compiled"])
@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(NOBODY, 30), st.integers(0, 2)), max_size=24))
def test_the_sweep_finds_the_same_paths_in_the_same_order(runs_as: str, ranges: list[tuple[int, int]]) -> None:
    """Every parent stands before its children."""
    parents = np.array([min(parent, row - 1) for row, (parent, _) in enumerate(ranges)], np.int64)
    groups = np.array([group for _, group in ranges], np.int64)

    with pytest.MonkeyPatch.context() as patched:
        if runs_as == "compiled":
            pytest.importorskip("numba", reason="numba is not installed")
        else:
            patched.setattr(numbered_paths, "compiled", lambda loop: loop)
        node_of, nodes = tree._swept_paths(parents, groups)

    expected_of, expected = tree._paths(parents, groups)
    assert (node_of.tolist(), nodes) == (expected_of.tolist(), expected)


def test_so_many_paths_that_their_table_grows_are_told_apart() -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    count = 5_000

    path_of, before, last = numbered_paths.numbered_paths(np.full(count, NOBODY), np.arange(count))

    assert path_of.tolist() == last.tolist() == list(range(count))
    assert set(before.tolist()) == {NOBODY}


def test_ranges_that_all_stay_open_are_a_path_as_deep_as_there_are() -> None:
    count = 5_000
    node_of, nodes = tree._paths(np.arange(-1, count - 1), np.zeros(count, np.int64))

    assert node_of.tolist() == list(range(count))
    assert nodes == [(above, 0) for above in range(-1, count - 1)]
