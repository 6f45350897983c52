"""Which folders hold tables, told by the names of their files alone: nothing is opened, and no pyarrow is needed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import msgspec

from nsysan.model.errors import InputError
from nsysan.model.text import visible_text


class TableFormat(msgspec.Struct, frozen=True):
    """A way to store one table in one file, named after the table."""

    name: str
    suffix: str


TABLE_FORMATS = (TableFormat("Parquet", ".parquet"), TableFormat("Arrow", ".arrow"))


def table_format(folder: Path, table_names: Collection[str]) -> TableFormat | None:
    """The format in which the folder holds at least one of the tables, None where it holds none or is closed to us."""
    try:
        # what stands for a table but is no file counts, so that it is refused by name and not overlooked
        present = {path.name for path in folder.iterdir()}
    except OSError:
        return None
    formats = (
        known for known in TABLE_FORMATS if not present.isdisjoint(f"{name}{known.suffix}" for name in table_names)
    )
    return next(formats, None)


def table_files(folder: Path, table_format: TableFormat) -> dict[str, Path]:
    """The file of every table in the folder, by name in order; links to files are as good as files.

    Raises InputError where one is a link that leads nowhere, a folder, a pipe or a device: it would be overlooked, or
    waited for.
    """
    files = {path.stem: path for path in sorted(folder.iterdir()) if path.suffix == table_format.suffix}
    for path in files.values():
        if not path.is_file():
            what = "a link that leads to no file" if path.is_symlink() and not path.exists() else "no ordinary file"
            raise InputError(
                f"{visible_text(str(path))} is {what}.",
                "Copy the whole folder again with the files that its links lead to, or export the report again: "
                "nsys export -t parquetdir REPORT",
            )
    return files
