"""Which of many intervals in layers is on top at each moment."""

from __future__ import annotations

import numpy as np

from nsysan.model.arrays import IdArray, Int64Array
from nsysan.timeline.compiled import compiled, is_worth_compiling
from nsysan.timeline.labelling import NOBODY, Labelling, first_come, overlaid
from nsysan.timeline.ordering import grouped_rows

_NEVER = int(np.iinfo(np.int64).max)


def topmost(start_ns: Int64Array, end_ns: Int64Array, layers: IdArray, layer_count: int) -> Labelling:
    """At each moment the row of the interval on top: of the first layer that has one, the one that began first there.

    Of equal begins in a layer it is the longest. The intervals are in order of begin. No two labels in a row are
    ``NOBODY``.
    """
    if not is_worth_compiling(len(start_ns)):
        of_layers = (np.flatnonzero(layers == layer) for layer in range(layer_count))
        return overlaid([first_come(start_ns[rows], end_ns[rows]).relabelled(rows) for rows in of_layers])
    rows = grouped_rows(layers, layer_count)
    limits = np.concatenate([[0], np.cumsum(np.bincount(layers, minlength=layer_count))])
    times_ns, labels = np.empty(2 * len(rows), np.int64), np.empty(2 * len(rows), np.int64)
    found = compiled(_sweep)(start_ns, end_ns, rows, limits, np.full(layer_count, NOBODY), times_ns, labels)
    return Labelling(times_ns[:found], labels[:found])


def _sweep(  # noqa: PLR0913, PLR0917 -- what comes in, and room for what comes out: numba makes no lists
    starts: Int64Array,
    ends: Int64Array,
    rows: Int64Array,
    limits: Int64Array,
    here: Int64Array,
    times: Int64Array,
    labels: Int64Array,
) -> int:
    """How many moments were written at which the label changes; ``here`` is each layer's place among the ``rows``."""
    found, now = 0, starts[0]
    while True:
        top, until = NOBODY, _NEVER
        for layer in range(len(here)):
            place, limit = max(here[layer], limits[layer]), limits[layer + 1]
            while place < limit and ends[rows[place]] <= max(now, starts[rows[place]]):
                place += 1
            if place != here[layer]:
                # of equal begins the longest hides all others
                begun = place + 1
                while begun < limit and starts[rows[begun]] == starts[rows[place]]:
                    if ends[rows[begun]] > ends[rows[place]]:
                        place = begun
                    begun += 1
                here[layer] = place
            begin = starts[rows[place]] if place < limit else _NEVER
            if begin <= now:
                top, until = rows[place], min(until, ends[rows[place]])
                break
            until = min(until, begin)
        if top != NOBODY or found:
            times[found] = now
            labels[found] = top
            found += 1
        if until == _NEVER:
            return found
        now = until
