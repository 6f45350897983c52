"""Ranges by the name that they share, and the tree of these names."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.grouping import codes_of
from nsysan.attribution.host import Host
from nsysan.attribution.ranges.names import SIZES, OperatorShapes
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import first_rows
from nsysan.model.host_events import unnamed_domain
from nsysan.model.tables import ABSENT
from nsysan.model.trace import PROCESS_BITS
from nsysan.timeline.labelling import NOBODY

DomainAndName = tuple[str | None, str]
"""A domain's name, None of the default one, and the name that ranges share."""


class GroupNumbers:
    """A number for each domain and name, the same over all reports."""

    def __init__(self) -> None:
        self._numbers: dict[DomainAndName, int] = {}
        self.names: list[DomainAndName] = []
        """Domain and name by number."""

    def of_ranges(self, host: Host, rows: IdArray) -> Int64Array:
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


def shapes_told(host: Host, rows: IdArray) -> Int64Array:
    """The places of those of these ranges that may tell shapes of inputs; that most traces hold none is soon seen."""
    name_ids = [name_id for name_id, text in host.trace.strings.items() if SIZES in text]
    return np.flatnonzero(np.isin(host.ranges.name_id[rows], name_ids)) if name_ids else np.empty(0, np.int64)


def _domain_name(host: Host, process: int, domain_id: int) -> str | None:
    """The name of a domain, its number where none was recorded; None of the default one."""
    named = host.trace.nvtx_domains.get((process, domain_id))
    return named if named or domain_id in {0, ABSENT} else unnamed_domain(domain_id)
