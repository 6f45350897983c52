"""The rows of a written export in the tables and columns of another release of nsys."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

SCHEMAS = sorted((Path(__file__).parents[3] / "shared" / "schema").glob("*.json"))
Layout = dict[str, list[str]]

_EARLIER_NAMES = {"EXPORT_META_DATA": "META_DATA_EXPORT"}
_TEXT_COLUMNS = frozenset({"name", "label", "value", "text", "uuid", "utcTime", "localTime", "busLocation", "pciBusId"})


def layout_of(schema: Path) -> Layout:
    """Columns by table."""
    layout: Layout = json.loads(schema.read_text())
    return layout


def lay_out(export: Path, layout: Layout, path: Path, *, has_nulls: bool) -> Path:
    """Write the rows of ``export`` to ``path`` in exactly these tables and columns.

    A column that the export lacks is NULL, or, where the release knows no NULL, 0 or empty, and so is any NULL. A
    table that the export lacks gets one row that nothing in the export is like.
    """
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ATTACH ? AS original", (str(export),))
        for table, columns in layout.items():
            _fill(connection, table, columns, has_nulls=has_nulls)
    return path


def _fill(connection: sqlite3.Connection, table: str, columns: list[str], *, has_nulls: bool) -> None:
    source = _EARLIER_NAMES.get(table, table)
    types = {name: kind for _, name, kind, *_ in connection.execute(f'PRAGMA original.table_info("{source}")')}
    declared = {name: types.get(name) or ("TEXT" if name in _TEXT_COLUMNS else "INTEGER") for name in columns}
    definition = ", ".join(f'"{name}" {kind}{"" if has_nulls else " NOT NULL"}' for name, kind in declared.items())
    connection.execute(f'CREATE TABLE main."{table}" ({definition})')
    values = []
    for name, kind in declared.items():
        nothing = "NULL" if has_nulls else "''" if kind == "TEXT" else "0"
        values.append(f'coalesce("{name}", {nothing})' if name in types else nothing if types else "4242")
    rows = f'FROM original."{source}"' if types else ""
    connection.execute(f'INSERT INTO main."{table}" SELECT {", ".join(values)} {rows}')
