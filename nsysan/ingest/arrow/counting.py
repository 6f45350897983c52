"""How many rows the tables of a folder have, and whether they hold certain values."""

from __future__ import annotations

import re
from pathlib import Path

from nsysan.ingest.arrow.batches import damage_reported, row_count
from nsysan.ingest.arrow.folder import TableFormat, table_files
from nsysan.ingest.source import Source, StoredTable, Value, text


def row_counts(folder: Path, table_format: TableFormat) -> dict[str, int]:
    """The rows of every table in the folder, by name in order."""
    counts = {}
    for name, path in table_files(folder, table_format).items():
        with damage_reported(path):
            counts[name] = row_count(path)
    return counts


def has_rows(source: Source, table: StoredTable, column: str, like: str | None) -> bool:
    """Whether a row has a value in ``column``, neither empty nor 0, that fits the SQL pattern ``like`` if given."""
    wanted = re.compile(".*" if like is None else _expression(like), re.DOTALL | re.IGNORECASE)
    return any(_fits(value, wanted) for (value,) in source.rows(table, (column,)))


def _fits(value: Value, wanted: re.Pattern[str]) -> bool:
    return bool(value) and wanted.fullmatch(text(value) or "") is not None


def _expression(like: str) -> str:
    wildcards = {"%": ".*", "_": "."}
    return "".join(wildcards.get(character, re.escape(character)) for character in like)
