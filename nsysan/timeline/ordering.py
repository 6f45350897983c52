"""Rows in order of time. Records lie nearly in that order, and hardly two have the same time: that is made use of."""

from __future__ import annotations

from typing import Any

import numpy as np

from nsysan.model.arrays import IdArray, Int64Array


def order_of(keys: Int64Array, *ties: Int64Array) -> Int64Array:
    """The rows by key; those of equal keys by the ``ties``, of which the first matters most, then as they lie.

    The same as ``np.lexsort((*reversed(ties), keys))``.
    """
    if is_ascending(keys):
        order, ordered = np.arange(len(keys)), keys
    else:
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
    equal = ordered[1:] == ordered[:-1] if ties else np.zeros(0, np.bool_)
    if equal.any():
        tied = np.concatenate([equal, [False]]) | np.concatenate([[False], equal])
        rows = order[tied]
        order[tied] = rows[np.lexsort((*(tie[rows] for tie in reversed(ties)), keys[rows]))]
    return order


def foremost(count: int, keys: Int64Array, *ties: Int64Array) -> Int64Array:
    """The first ``count`` rows of ``order_of(keys, *ties)``, without ordering all the others."""
    if count <= 0:
        return np.empty(0, np.intp)
    if count >= len(keys):
        return order_of(keys, *ties)
    among = np.flatnonzero(keys <= np.partition(keys, count - 1)[count - 1])
    return among[order_of(keys[among], *(tie[among] for tie in ties))[:count]]


def grouped_rows(places: IdArray, place_count: int) -> Int64Array:
    """The rows by place, a number below ``place_count``; those of a place as they lie."""
    if place_count <= 1:
        return np.arange(len(places))
    # numpy sorts numbers of 16 bits by counting, the longer ones by comparing
    short = places.astype(np.uint16) if place_count <= 1 << 16 else places
    return np.argsort(short, kind="stable")


def is_ascending(values: IdArray) -> bool:
    """Whether no value is below the one before it."""
    return bool((values[1:] >= values[:-1]).all())


def slices(first: IdArray, counts: IdArray, kind: type[np.signedinteger[Any]] = np.int64) -> IdArray:
    """The numbers from ``first[i]`` on, ``counts[i]`` of them, of all slices one after the other."""
    before = np.cumsum(counts) - counts
    places: IdArray = np.repeat((first - before).astype(kind), counts)
    places += np.arange(len(places), dtype=kind)
    return places
