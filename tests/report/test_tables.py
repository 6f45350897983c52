"""What holds for every table of every page: its columns sort as they read, and copying one loses nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import pytest
from msgspec.structs import astuple

from nsysan.report.comparison.page import comparison_sections
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.section import sections
from tests.report.comparisons import full_comparison
from tests.report.runs import full_run

UNIT = r"(?:%|(?:ns|µs|ms|s|Hz|W|(?:[kMGT]i?)?B)(?:/s)?)"
FIGURE = re.compile(rf"(?:under |over |at least |at most )?\d[\d,]*(?:\.\d+)?(?: {UNIT})?(?: to \d.*)?")
"""A text that is a figure, with its unit or without: ``2,365``, ``12.5 %``, ``10 µs to 100 µs``; not ``2025.6.1``."""


def tables_in(view: object) -> Iterator[Table]:
    """Every table that a view holds, however deep."""
    if isinstance(view, Table):
        yield view
    elif isinstance(view, tuple):
        for entry in view:
            yield from tables_in(entry)
    elif isinstance(view, msgspec.Struct):
        for entry in astuple(view):
            yield from tables_in(entry)


def tables_of_a_run() -> list[Table]:
    run = full_run()
    return [table for section in sections() for table in tables_in(section.build(run))]


def all_tables() -> list[Table]:
    comparison = full_comparison()
    compared = (section.build(comparison) for section in comparison_sections())
    return [*tables_of_a_run(), *(table for view in compared for table in tables_in(view))]


def cells_of(table: Table) -> list[tuple[Column, list[Cell]]]:
    return [(column, [row[place] for row in table.rows]) for place, column in enumerate(table.columns)]


every_table = pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.id)


@every_table
def test_figures_sort_by_their_value_and_never_as_text(table: Table) -> None:
    as_text = [
        (column.label, cell.text)
        for column, cells in cells_of(table)
        for cell in cells
        # a name out of the trace may look like anything
        if cell.value is None and cell.style not in ("name", "code") and FIGURE.fullmatch(cell.text)
    ]

    assert as_text == []


@pytest.mark.parametrize("table", tables_of_a_run(), ids=lambda table: table.id)
def test_every_figure_of_a_run_has_its_definition_and_its_source(table: Table) -> None:
    shown = (column for column in table.columns if column.numeric and not column.is_copied_only)
    undefined = [column.label for column in shown if column.term is None]

    assert (undefined, table.source is None) == ([], False)


@every_table
def test_what_stands_below_a_text_is_copied_with_it(table: Table) -> None:
    lost = [
        (column.label, cell.note)
        for row in table.rows
        for column, cell in zip(table.columns, row, strict=True)
        # a share that stands below its figure follows from what is copied
        if cell.note is not None and column.notes is None and not (column.numeric and cell.note.endswith(" %"))
        if not copied_beside(cell, table, row)
    ]

    assert lost == []


def copied_beside(cell: Cell, table: Table, row: tuple[Cell, ...]) -> bool:
    """Whether a column that is only copied holds what a cell's note says."""
    beside = (other.text for column, other in zip(table.columns, row, strict=True) if column.is_copied_only)
    return any(text and text in (cell.note or "") for text in beside)


@every_table
def test_what_is_copied_is_told_apart_by_its_heads(table: Table) -> None:
    copied = [name for column in table.columns if not column.bar for name in (column.label, column.notes) if name]

    assert len(set(copied)) == len(copied)
