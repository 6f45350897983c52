"""Which folders hold tables, told by the names of their files alone: nothing is opened, and no pyarrow is needed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A way to store one table in one file, named after the table."""

    name: str
    suffix: str


TABLE_FORMATS = (TableFormat("Parquet", ".parquet"), TableFormat("Arrow", ".arrow"))


def table_format(folder: Path, table_names: Collection[str]) -> TableFormat | None:
    """The format in which the folder holds at least one of the tables, None where it holds none or is closed to us."""
    try:
        present = {path.name for path in folder.iterdir() if path.is_file()}
    except OSError:
        return None
    formats = (
        known for known in TABLE_FORMATS if not present.isdisjoint(f"{name}{known.suffix}" for name in table_names)
    )
    return next(formats, None)
