"""What single ranges and marks bear besides their name: a category, a payload, a JSON text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nsysan.attribution.grouping import codes_of
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import first_rows
from nsysan.model.tables import ABSENT, NvtxDetails, NvtxMarks, NvtxRanges
from nsysan.model.trace import PROCESS_BITS, Trace

_NO_CATEGORY = (ABSENT, 0)
"""NVTX numbers categories from 1 on."""


def described(trace: Trace, events: NvtxRanges | NvtxMarks, details: NvtxDetails | None, row: int) -> str:
    """The text of a range or mark with what it bears: ``load (category data, payload 12, {"epoch": 3})``."""
    text = trace.text(int(events.name_id[row]))
    found = ", ".join(_borne(trace, events, details, row)) if details is not None else ""
    return f"{text} ({found})" if found else text


def category_of(trace: Trace, events: NvtxRanges | NvtxMarks, row: int, category_id: int) -> str:
    """The name of a category of the domain of this range or mark; its number where it was given no name."""
    key = (int(events.global_tid[row]) & PROCESS_BITS, int(events.domain_id[row]), category_id)
    return trace.nvtx_categories.get(key, str(category_id))


def _borne(trace: Trace, events: NvtxRanges | NvtxMarks, details: NvtxDetails, row: int) -> Iterator[str]:
    # few ranges bear anything, and the rows ascend
    place = int(np.searchsorted(details.row, row))
    if place == len(details) or details.row[place] != row:
        return
    columns = (details.category_id, details.payload, details.payload_id, details.json_id)
    category, payload, other_payload, json = (int(column[place]) for column in columns)
    if category not in _NO_CATEGORY:
        yield f"category {category_of(trace, events, row, category)}"
    if other_payload != ABSENT:
        yield f"payload {trace.text(other_payload)}"
    elif payload != ABSENT:
        yield f"payload {payload}"
    if json != ABSENT:
        yield trace.text(json)


def with_category(trace: Trace) -> NvtxDetails | None:
    """The details of the ranges that bear a category, None where none does."""
    details = trace.nvtx_range_details
    bearing = None if details is None else details.take(~np.isin(details.category_id, _NO_CATEGORY))
    return bearing if bearing is not None and len(bearing) else None


def categories_by_group(trace: Trace, bearing: NvtxDetails, groups: Int64Array) -> dict[int, set[str]]:
    """The names of the categories of each group; ``groups`` are those of the ranges that bear one."""
    ranges = trace.nvtx_ranges
    found: dict[int, set[str]] = {}
    if ranges is not None:
        places = (ranges.global_tid[bearing.row], ranges.domain_id[bearing.row])
        firsts = first_rows(codes_of(groups, *places, bearing.category_id))
        columns = (column[firsts].tolist() for column in (groups, bearing.row, bearing.category_id))
        for group, row, category in zip(*columns, strict=True):
            found.setdefault(group, set()).add(category_of(trace, ranges, row, category))
    return found
