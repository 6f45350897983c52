"""How long two step functions of time have which labels at once, stretch by stretch."""

from __future__ import annotations

import numpy as np

from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import distinct, summed
from nsysan.timeline.compiled import compiled, is_worth_compiling
from nsysan.timeline.labelling import Labelling


def joint_times(edges_ns: Int64Array, one: Labelling, other: Labelling, label_counts: tuple[int, int]) -> Int64Array:
    """The time of each pair of labels (two axes) in each stretch between two edges, which ascend (first axis).

    Labels are below ``label_counts``; the last place of an axis is for ``NOBODY``, so that each stretch adds up to its
    length.
    """
    shape = (len(edges_ns) - 1, *(count + 1 for count in label_counts))
    if is_worth_compiling(len(one.bounds_ns) + len(other.bounds_ns)):
        times_ns = np.zeros(shape, np.int64)
        # one type of labels, for numba makes code for each
        one_labels, other_labels = (labels.labels.astype(np.int16, copy=False) for labels in (one, other))
        compiled(_add_up)(edges_ns, one.bounds_ns, one_labels, other.bounds_ns, other_labels, times_ns)
        return times_ns
    moments_ns = np.concatenate([edges_ns, one.bounds_ns, other.bounds_ns])
    moments_ns = distinct(moments_ns[(moments_ns >= edges_ns[0]) & (moments_ns <= edges_ns[-1])])
    begins_ns = moments_ns[:-1]
    stretch = np.searchsorted(edges_ns, begins_ns, side="right") - 1
    firsts, seconds = (labels.at(begins_ns).astype(np.int64) for labels in (one, other))
    pair = firsts % shape[1] * shape[2] + seconds % shape[2]
    sums_ns = summed(np.diff(moments_ns), stretch * shape[1] * shape[2] + pair, int(np.prod(shape)))
    return sums_ns.reshape(shape)


def _add_up(  # noqa: PLR0913, PLR0917 -- two step functions and room for what comes out: numba makes no lists
    edges: Int64Array,
    one_bounds: Int64Array,
    one_labels: IdArray,
    other_bounds: Int64Array,
    other_labels: IdArray,
    times: Int64Array,
) -> None:
    """Add the time of each pair of labels; a label of -1, ``NOBODY``, is the last place."""
    one_begun = other_begun = 0
    for stretch in range(len(edges) - 1):
        now, end = edges[stretch], edges[stretch + 1]
        while now < end:
            while one_begun < len(one_bounds) and one_bounds[one_begun] <= now:
                one_begun += 1
            while other_begun < len(other_bounds) and other_bounds[other_begun] <= now:
                other_begun += 1
            until = end
            if one_begun < len(one_bounds) and one_bounds[one_begun] < until:
                until = one_bounds[one_begun]
            if other_begun < len(other_bounds) and other_bounds[other_begun] < until:
                until = other_bounds[other_begun]
            one = one_labels[one_begun - 1] if one_begun else -1
            other = other_labels[other_begun - 1] if other_begun else -1
            times[stretch, one, other] += until - now
            now = until
