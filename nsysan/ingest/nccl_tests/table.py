"""The tables that nccl-tests prints, in every layout its releases have had: the heading says what the columns are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from nsysan.ingest.nccl_log.lines import LONGEST_LINE_BYTES
from nsysan.ingest.nccl_tests.identity import kind_by_ratio, kind_in, version_of, with_exact_rates
from nsysan.model.errors import InputError
from nsysan.model.kernels import Collective
from nsysan.model.nccl_tests import NcclTest, NcclTestRow
from nsysan.model.text import display_text
from nsysan.model.units import NS_PER_US

_LAUNCHER = re.compile(r"\x1b\[[0-9;]*m|\[\d+(?:,\d+)*\](?:<\w+>:?)?|^\s*\d+:\s|\(\w{1,60} pid=\d+[^)]{0,120}\)")
"""What launchers put before every line, or every piece of one."""
_DEVICE = re.compile(
    r"Rank +(?P<rank>\d+) (?:Group +\d+ )?Pid +(?P<pid>\d+) on +(?P<host>\S+) device +\d+ \[[^\]]*\] (?P<gpu>.+)"
)
_LIBRARY = re.compile(r"nccl-library=(?P<code>\d{4,6})")
_WRONG = re.compile(r"Out of bounds values *: *(?P<count>\d+) *(?P<state>OK|FAILED)")
_AVERAGE = re.compile(r"Avg bus bandwidth *: *(?P<rate>[\d.e+-]+)")
_FAILURE = re.compile(r"(?:Test (?:NCCL|CUDA) failure|NCCL failure|Test failure).*")
_ALIASES = {"bytes": "size", "N": "count", "op": "redop", "cputime": "time", "res": "error"}
_TIME, _WRONG_COLUMN = "time", "#wrong"
_FIGURES = (_TIME, "algbw", "busbw")
_FIRST_COLUMNS = ("size", "count", "type")
_FIRST_LINES = ("nccl-tests version", "Collective test starting", "nThread")
_RUN_AGAIN = "Run the test again; figures of a run that failed are not used."


class _Layout(msgspec.Struct, frozen=True):
    """The columns before the times, and those of each group of times: out of place, then in place."""

    first: tuple[str, ...]
    group: tuple[str, ...]
    is_cpu_time: bool

    @classmethod
    def of(cls, words: Sequence[str]) -> _Layout | None:
        """The layout that a heading of these words says, None where it is no heading."""
        columns = [_ALIASES.get(word, word) for word in words]
        if tuple(columns[:3]) != _FIRST_COLUMNS or _TIME not in columns:
            return None
        begin = columns.index(_TIME)
        group_count = columns.count(_TIME)
        width = (len([column for column in columns if column != "timestamp"]) - begin) // group_count
        return cls(tuple(columns[:begin]), tuple(columns[begin : begin + width]), "cputime" in words)


class _Table(msgspec.Struct):
    """A test as far as its lines were read."""

    layout: _Layout | None = None
    kind: Collective | None = None
    code: int = 0
    processes: dict[int, tuple[str, int]] = msgspec.field(default_factory=dict)
    """Host and process of each rank."""
    gpu_names: dict[str, None] = msgspec.field(default_factory=dict)
    rows: list[NcclTestRow] = msgspec.field(default_factory=list)
    unusable_count: int = 0
    wrong_count: int | None = None
    average: float | None = None


def read_tables(path: Path, name: str) -> tuple[NcclTest, ...]:
    """The tests whose tables the file at ``path`` holds. Raises InputError where one failed or did not finish."""
    with path.open("rb") as file:
        pieces = iter(lambda: file.readline(LONGEST_LINE_BYTES), b"")
        tables = _tables(piece.decode("utf-8", "replace") for piece in pieces)
        found = tuple(_finished(table, name) for table in tables)
    if not found:
        raise InputError(f"{display_text(name)} is of a test of nccl-tests that printed no table.", _RUN_AGAIN)
    return found


def _tables(lines: Iterable[str]) -> Iterator[_Table]:
    table = _Table()
    for line in lines:
        if (failure := _FAILURE.search(line)) is not None:
            raise InputError(f"A test of nccl-tests failed: {display_text(failure[0].strip(), 120)}.", _RUN_AGAIN)
        bare = _LAUNCHER.sub(" ", line).strip().lstrip("#").strip()
        if table.rows and (bare.startswith(_FIRST_LINES) or _Layout.of(bare.split()) is not None):
            yield table
            table = _Table()
        _take(table, bare)
    if table.layout is not None:
        yield table


def _take(table: _Table, line: str) -> None:
    if table.layout is None or not table.rows:
        _take_heading(table, line)
    row_words = line.split()
    if table.layout is not None and row_words and row_words[0].isdigit() and table.wrong_count is None:
        rows = list(_rows(table.layout, row_words))
        table.rows += [row for row in rows if row is not None]
        table.unusable_count += rows.count(None)
    if (found := _WRONG.search(line)) is not None:
        table.wrong_count = int(found["count"])
    elif (found := _AVERAGE.search(line)) is not None:
        table.average = float(found["rate"])


def _take_heading(table: _Table, line: str) -> None:
    """What is told before the rows."""
    table.layout = _Layout.of(line.split()) or table.layout
    table.kind = table.kind or kind_in(line)
    if (device := _DEVICE.search(line)) is not None:
        table.processes[int(device["rank"])] = device["host"], int(device["pid"])
        table.gpu_names.setdefault(device["gpu"].strip())
    if (library := _LIBRARY.search(line)) is not None:
        table.code = int(library["code"])


def _rows(layout: _Layout, words: Sequence[str]) -> Iterator[NcclTestRow | None]:
    """The row's figures out of place and in place, None of one whose figures are unusable; a shorter line is no row.

    A row with one group of times is one in place: nccl-tests leaves the other out where it replays.
    """
    first, width = len(layout.first), len(layout.group)
    groups = [words[begin : begin + width] for begin in range(first, len(words) - width + 1, width)][:2]
    columns = (*layout.first, *layout.group)
    for group in groups:
        yield _usable(dict(zip(columns, (*words[:first], *group), strict=True)), in_place=group is groups[-1])


def _usable(figures: dict[str, str], *, in_place: bool) -> NcclTestRow | None:
    try:
        return _row(figures, in_place=in_place)
    except ValueError:
        return None


def _row(figures: dict[str, str], *, in_place: bool) -> NcclTestRow:
    root = int(figures.get("root", "-1"))
    rates = [float(figures[name]) for name in _FIGURES]
    if not all(math.isfinite(rate) and rate >= 0 for rate in rates) or not float(figures[_TIME]):
        raise ValueError("no figures")
    wrong = figures.get(_WRONG_COLUMN, "N/A")
    return NcclTestRow(
        size_bytes=int(figures["size"]),
        element_count=int(figures["count"]),
        dtype=figures["type"],
        reduction=None if figures.get("redop", "none") == "none" else figures["redop"],
        root=None if root < 0 else root,
        in_place=in_place,
        time_ns=float(figures[_TIME]) * NS_PER_US,
        algbw_bytes_per_s=float(figures["algbw"]) * 1e9,
        busbw_bytes_per_s=float(figures["busbw"]) * 1e9,
        wrong_count=None if wrong == "N/A" else round(float(wrong)),
    )


def _finished(table: _Table, name: str) -> NcclTest:
    assert table.layout is not None, "it has rows, or at least a heading"
    if not table.rows:
        raise InputError(f"{display_text(name)} holds a table of nccl-tests without rows.", _RUN_AGAIN)
    if table.wrong_count is None:
        raise InputError(
            f"{display_text(name)} ends before its test of nccl-tests does: the last line with the check is missing.",
            "Run the test again and let it finish.",
        )
    refuse_wrong(table.wrong_count, table.rows, name)
    processes = set(table.processes.values())
    rank_count = len(table.processes) or None
    inferred = None if table.kind is not None else kind_by_ratio(table.rows, rank_count)
    return NcclTest(
        name=name,
        kind=table.kind or inferred,
        kind_is_inferred=inferred is not None,
        nccl_version=version_of(table.code),
        rank_count=rank_count,
        node_count=len({host for host, _ in processes}) or None,
        process_count=len(processes) or None,
        gpu_names=tuple(table.gpu_names),
        is_cpu_time=table.layout.is_cpu_time,
        rows=with_exact_rates(table.rows),
        average_busbw_bytes_per_s=None if table.average is None else table.average * 1e9,
        unusable_count=table.unusable_count,
    )


def refuse_wrong(wrong_count: int, rows: Sequence[NcclTestRow], name: str) -> None:
    """Raise InputError where a test's data were wrong: its times are of something else then."""
    if wrong_count or any(row.wrong_count for row in rows):
        count = wrong_count or sum(bool(row.wrong_count) for row in rows)
        raise InputError(f"{display_text(name)} is of a test of nccl-tests with {count} wrong results.", _RUN_AGAIN)
