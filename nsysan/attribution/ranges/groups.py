"""Ranges by the name that they share, and the tree of these names."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.grouping import codes_of
from nsysan.attribution.host import Host
from nsysan.attribution.ranges.names import SIZES, OperatorShapes
from nsysan.attribution.ranges.times import RangeTimes
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.distinct import coded, first_rows
from nsysan.model.host_events import unnamed_domain
from nsysan.model.tables import ABSENT, Table
from nsysan.model.trace import PROCESS_BITS
from nsysan.timeline.labelling import NOBODY
from nsysan.timeline.ordering import grouped_order

_NONE = int(np.iinfo(np.int64).min)

DomainAndName = tuple[str | None, str]
"""A domain's name, None of the default one, and the name that ranges share."""


class GroupNumbers:
    """A number for each domain and name, the same over all reports."""

    def __init__(self) -> None:
        self._numbers: dict[DomainAndName, int] = {}
        self.names: list[DomainAndName] = []
        """Domain and name by number."""

    def of_ranges(self, host: Host, rows: Int64Array) -> Int64Array:
        """The number of each of these ranges."""
        columns = (
            host.ranges.global_tid[rows] & PROCESS_BITS,
            host.ranges.domain_id[rows],
            host.range_groups.of_row[rows],
        )
        code_of = codes_of(*columns)
        firsts = first_rows(code_of)
        numbers = []
        for process, domain, group in zip(*(column[firsts].tolist() for column in columns), strict=True):
            numbers.append(self._number((_domain_name(host, process, domain), host.range_groups.names[group])))
        return np.array(numbers, np.int64)[code_of]

    def _number(self, named: DomainAndName) -> int:
        number = self._numbers.setdefault(named, len(self.names))
        if number == len(self.names):
            self.names.append(named)
        return number


class ShapeNumbers:
    """A number for each group of ranges and shapes of inputs, the same over all reports."""

    def __init__(self) -> None:
        self._shapes = OperatorShapes()
        self._numbers: dict[tuple[int, str], int] = {}

    @property
    def keys(self) -> list[tuple[int, str]]:
        """Group and shapes by number."""
        return list(self._numbers)

    def of_ranges(self, host: Host, rows: Int64Array, groups: Int64Array) -> Int64Array:
        """The number of each of these ranges, ``NOBODY`` where its text tells no shapes."""
        code_of = codes_of(groups, host.ranges.name_id[rows])
        firsts = first_rows(code_of)
        numbers = []
        for group, name_id in zip(groups[firsts].tolist(), host.ranges.name_id[rows[firsts]].tolist(), strict=True):
            shapes = self._shapes.of(host.trace.text(name_id))
            numbers.append(NOBODY if shapes is None else self._numbers.setdefault((group, shapes), len(self._numbers)))
        return np.array(numbers, np.int64)[code_of]


def tells_shapes(host: Host, rows: Int64Array) -> BoolArray:
    """Which of these ranges may tell shapes of inputs; to see that most traces hold none is cheap."""
    name_ids = [name_id for name_id, text in host.trace.strings.items() if SIZES in text]
    return np.isin(host.ranges.name_id[rows], name_ids) if name_ids else np.zeros(len(rows), np.bool_)


def _domain_name(host: Host, process: int, domain_id: int) -> str | None:
    """The name of a domain, its number where none was recorded; None of the default one."""
    named = host.trace.nvtx_domains.get((process, domain_id))
    return named if named or domain_id in {0, ABSENT} else unnamed_domain(domain_id)


class OwnShare(Table, frozen=True):
    """What each range adds to the total of its name: nothing of what another range of that name around it has."""

    cpu_ns: Int64Array
    gpu_ns: Int64Array


def own_shares(times: RangeTimes, groups: Int64Array, totals_ns: Int64Array) -> OwnShare:
    """The share of each range of a thread in its name's totals: time inside two ranges of one name counts once.

    ``totals_ns`` is the GPU time launched before each place of the call order.
    """
    names, key = coded(groups)
    # times are cut at a window's begin: of those cut there the calls tell which began first
    order = grouped_order(key, len(names), times.start_ns, times.first_call, -times.end_ns)
    head = np.diff(key[order], prepend=-1) != 0
    end_ns = np.maximum(times.end_ns, times.start_ns)[order]
    begun_ns = np.maximum(times.start_ns[order], _latest_before(end_ns, head))
    first, last = times.first_call[order], times.last_call[order]
    begun = np.maximum(first, _latest_before(last, head))
    cpu_ns, gpu_ns = np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)
    cpu_ns[order] = np.maximum(end_ns - begun_ns, 0)
    gpu_ns[order] = totals_ns[last] - totals_ns[np.minimum(begun, last)]
    return OwnShare(cpu_ns, gpu_ns)


def _latest_before(ends: Int64Array, head: np.ndarray) -> Int64Array:
    """The largest end among the rows before each in its group; the smallest number there is for the first."""
    if not len(ends):
        return ends
    # groups are told apart by adding to the ends what no end reaches
    earliest, reach = int(ends.min()), int(ends.max()) - int(ends.min()) + 1
    if reach * (int(head.sum()) + 1) > np.iinfo(np.int64).max:
        unique, ranks = coded(ends)
        before = _latest_before(ranks.astype(np.int64), head)
        return np.where(before == _NONE, _NONE, unique[np.maximum(before, 0)])
    base = np.cumsum(head) * reach - earliest
    latest = np.maximum.accumulate(base + ends)
    return np.where(head, _NONE, np.concatenate([[_NONE], latest[:-1]]) - base)
