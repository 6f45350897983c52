"""SQLite files of ours: what a file is of, and the steps by which an older one becomes a newer one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from nsysan.model.errors import InputError

if TYPE_CHECKING:
    from sqlite_utils import Database


class TableSchema(msgspec.Struct, frozen=True):
    """What files of one kind hold.

    ``what`` they are stands in sentences, ``another`` says how to name another file. ``application_id`` is where SQLite
    keeps what a file is of. A file's ``user_version`` says how many of the ``steps`` it has taken; none of them is ever
    changed.
    """

    what: str
    another: str
    application_id: int
    steps: tuple[Callable[[Database], None], ...]

    def bring_up_to_date(self, database: Database, name: str) -> None:
        """Take the steps that the file has not taken, within the caller's transaction: all of them or none.

        Raises InputError where the file is none of these, or newer than this nsysan.
        """
        version = self._version_of(database, name)
        for step in self.steps[version:]:
            step(database)
        if version < len(self.steps):
            database.execute(f"pragma application_id = {self.application_id}")
            database.execute(f"pragma user_version = {len(self.steps)}")

    def is_up_to_date(self, database: Database, name: str) -> bool:
        """Whether the file has taken all steps. Raises InputError where it is none of these, or newer."""
        return self._version_of(database, name) == len(self.steps)

    def _version_of(self, database: Database, name: str) -> int:
        version = _pragma(database, "user_version")
        if database.table_names() and _pragma(database, "application_id") != self.application_id:
            raise InputError(f"{name} is no {self.what}.", f"Name another with {self.another}.")
        if version > len(self.steps):
            raise InputError(
                f"{name} was written by a newer nsysan.", f"Use that one, or name another with {self.another}."
            )
        return version


def _pragma(database: Database, name: str) -> int:
    return int(database.execute(f"pragma {name}").fetchone()[0])
