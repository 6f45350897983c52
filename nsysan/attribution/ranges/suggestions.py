"""Names of ranges for somebody who spelled one that is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches

import numpy as np

from nsysan.attribution.ranges.names import without_details
from nsysan.model.tables import NvtxRanges
from nsysan.model.text import LISTED_NAMES, display_text
from nsysan.model.trace import Trace

_COMPARED_NAMES = 5000
"""To compare names takes time; beyond so many of the most frequent nobody looks for a slip of the pen."""


def suggested_names(wanted: str, ranges: NvtxRanges, trace: Trace) -> str:
    """A sentence or two: the names like ``wanted``, then the most frequent ones, each with its number of ranges."""
    counts = _counts(ranges, trace)
    frequent = sorted(counts, key=lambda name: (-counts[name], name))
    similar = _similar(wanted, frequent)[:LISTED_NAMES]
    others = [name for name in frequent if name not in similar][: LISTED_NAMES - len(similar)]
    lists = {"Similar ranges": similar, "Most frequent ranges": others}
    return " ".join(
        f"{title} here, with their number: {_listed(names, counts)}." for title, names in lists.items() if names
    )


def _counts(ranges: NvtxRanges, trace: Trace) -> Counter[str]:
    """How many ranges have each name, without what PyTorch writes behind that of an operator."""
    counts: Counter[str] = Counter()
    name_ids, id_counts = np.unique(ranges.name_id, return_counts=True)
    for name_id, count in zip(name_ids.tolist(), id_counts.tolist(), strict=True):
        counts[without_details(trace.text(name_id))] += count
    return counts


def _similar(wanted: str, names: Iterable[str]) -> list[str]:
    """Those that begin as ``wanted`` does, the shortest first, then those that differ from it in a few letters."""
    if not wanted:
        return []
    folded = {name: name.casefold() for name in names}
    begun = [name for name, text in folded.items() if text.startswith(wanted.casefold())]
    compared = list(folded)[:_COMPARED_NAMES]
    close = get_close_matches(wanted.casefold(), (folded[name] for name in compared), LISTED_NAMES)
    alike = [name for name in compared if folded[name] in close and name not in begun]
    return sorted(begun, key=lambda name: (len(name), name)) + alike


def _listed(names: Iterable[str], counts: Counter[str]) -> str:
    return "; ".join(f"{display_text(name)} ({counts[name]})" for name in names)
