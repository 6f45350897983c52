"""An export that is open: which of nsys' tables it has, their rows, and what could not be read of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from nsysan.ingest.nsys.tables import TABLE_NAMES, WORK
from nsysan.ingest.source import Source, StoredTable, Value
from nsysan.model.errors import InputError


class OpenExport(msgspec.Struct, frozen=True):
    """The tables of an export that nsysan reads, in whatever form, and the count of rows left out, per table."""

    source: Source
    unreadable_records: Counter[str] = msgspec.field(default_factory=Counter)

    @property
    def tables(self) -> Mapping[str, StoredTable]:
        """The tables that the export has, by name."""
        return self.source.tables

    def table(self, names: Iterable[str]) -> StoredTable | None:
        """The first of ``names`` that the export has."""
        return next((self.tables[name] for name in names if name in self.tables), None)

    def rows(self, name: str, *columns: str) -> Iterator[tuple[Value, ...]]:
        """The rows of a small table, none where the export lacks it; a column that it lacks is None in each."""
        table = self.tables.get(name)
        return iter(()) if table is None else self.source.rows(table, columns)

    def left_out(self) -> dict[str, int]:
        """How many rows of each table could not be read; a table without any is not there."""
        return {table: count for table, count in self.unreadable_records.items() if count}

    def left_out_work(self) -> dict[str, int]:
        """The part of ``left_out`` that is GPU work, by the field of a Trace that lacks it."""
        counts = {kind: sum(self.unreadable_records[name] for name in table.names) for kind, table in WORK.items()}
        return {kind: count for kind, count in counts.items() if count}


def open_export(source: Source, shown_name: str) -> OpenExport:
    """The export behind the source.

    Raises InputError where it has none of nsys' tables, or has one as a view or virtual table: what such a one
    answers was written by someone else than nsys, and may take forever.
    """
    if not source.tables:
        raise InputError(
            f"{shown_name} is an SQLite database but no Nsight Systems export; it has none of the tables "
            f"{', '.join(TABLE_NAMES)}.",
            "Give a .nsys-rep, or export one: nsys export -t sqlite REPORT",
        )
    computed = sorted(table.name for table in source.tables.values() if not table.is_stored)
    if computed:
        raise InputError(
            f"{shown_name} has {computed[0]} as a view or virtual table, where nsys writes a table.",
            "Give the export as nsys wrote it: nsys export -t sqlite REPORT",
        )
    return OpenExport(source)
