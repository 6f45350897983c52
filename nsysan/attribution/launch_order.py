"""Which kernels of two recordings are the same launches of a job's steps, told by their order and their names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nsysan.attribution.host import Host
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.thresholds import SAME_JOB_FRAC
from nsysan.timeline.labelling import NOBODY

_MOST_TRIALS = 256


def kernel_names(host: Host, rows: Int64Array) -> list[str]:
    """The names of these kernels of a report."""
    kernels = host.trace.kernels
    assert kernels is not None, "there are rows of them"
    return [host.trace.text(name_id) for name_id in kernels.name_id[rows].tolist()]


def places_of_names(told: Sequence[str], names: Sequence[str]) -> Int64Array | None:
    """``places_in`` of names that are text."""
    codes: dict[str, int] = {}
    numbers = (np.array([codes.setdefault(name, len(codes)) for name in of], np.int64) for of in (told, names))
    return places_in(*numbers)


def places_in(told: Int64Array, names: Int64Array) -> Int64Array | None:
    """For each of ``names``, in launch order, its place in ``told``, whose order repeats from end to begin.

    Either may begin anywhere in a step. NOBODY where the names differ; None where too few agree at any shift, or as
    many at two: names alone do not tell then which launch is which.
    """
    if not len(told) or not len(names):
        return None
    counts = {shift: int((told[_shifted(told, names, shift)] == names).sum()) for shift in _shifts(told, names)}
    most = max(counts.values(), default=0)
    if most < SAME_JOB_FRAC * len(names) or list(counts.values()).count(most) > 1:
        return None
    places = _shifted(told, names, max(counts, key=counts.__getitem__))
    return np.where(told[places] == names, places, NOBODY)


def _shifted(told: Int64Array, names: Int64Array, shift: int) -> Int64Array:
    return (np.arange(len(names)) + shift) % len(told)


def period_of(kinds: Int64Array) -> int:
    """After how many entries the sequence repeats itself; its length where not (Knuth-Morris-Pratt)."""
    values = kinds.tolist()
    border = [0] * len(values)
    length = 0
    for place in range(1, len(values)):
        while length and values[place] != values[length]:
            length = border[length - 1]
        length += values[place] == values[length]
        border[place] = length
    return len(values) - (border[-1] if border else 0)


def _shifts(told: Int64Array, names: Int64Array) -> list[int]:
    """Where a name that is rare in ``told`` may have its first place in ``names``."""
    kinds, kind_of = coded(told)
    counts = np.bincount(kind_of, minlength=len(kinds))
    shared = [place for place in np.argsort(counts, kind="stable").tolist() if np.any(names == kinds[place])]
    if not shared:
        return []
    rarest = kinds[shared[0]]
    first = int(np.flatnonzero(names == rarest)[0])
    return [(place - first) % len(told) for place in np.flatnonzero(told == rarest)[:_MOST_TRIALS].tolist()]
