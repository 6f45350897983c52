"""The tables of a history, and the steps by which an older file becomes a newer one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nsysan.model.errors import InputError

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x6E737973
"""``nsys``, where SQLite keeps what a file is of."""


def bring_up_to_date(database: Database, name: str, *, may_write: bool) -> None:
    """Take the steps that the file has not taken, within the caller's transaction.

    Raises InputError where the file is none of ours, newer than this nsysan, or older and nothing may be written.
    """
    version = _pragma(database, "user_version")
    is_empty = not database.table_names()
    if not is_empty and _pragma(database, "application_id") != APPLICATION_ID:
        raise InputError(f"{name} is no history of nsysan.", "Name another file with --store.")
    if version > len(MIGRATIONS):
        raise InputError(f"{name} was written by a newer nsysan.", "Use that one, or name another file with --store.")
    if version < len(MIGRATIONS) and not may_write:
        raise InputError(f"{name} is of an older nsysan.", "Any nsysan history add RUN brings it up to date.")
    for migrate in MIGRATIONS[version:]:
        migrate(database)
    if version < len(MIGRATIONS):
        database.execute(f"pragma application_id = {APPLICATION_ID}")
        database.execute(f"pragma user_version = {len(MIGRATIONS)}")


def _pragma(database: Database, name: str) -> int:
    return int(database.execute(f"pragma {name}").fetchone()[0])


def _first_tables(database: Database) -> None:
    """Runs with what they were recorded under, their figures, and which runs a baseline is made of."""
    database.table("runs").create(
        {
            "number": int,
            "id": str,
            "added_utc": str,
            "created_utc": str,
            "nsysan_version": str,
            "git_commit": str,
            "labels": str,
            "reports": str,
            "conditions": str,
            "findings": str,
            "skipped": str,
        },
        pk="number",
    )
    database.table("runs").create_index(["id"], unique=True)
    database.table("figures").create(
        dict.fromkeys(("id", "topic", "title", "key", "name", "unit", "better", "part_of"), str), pk="id"
    )
    database.table("amounts").create(
        {"run": str, "figure": str, "place": int, "value": float, "error": float}, pk=("run", "figure")
    )
    database.table("amounts").create_index(["figure"])
    database.table("baselines").create({"name": str, "run": str, "added_utc": str}, pk=("name", "run"))


MIGRATIONS: tuple[Callable[[Database], None], ...] = (_first_tables,)
"""In order; a file's ``user_version`` says how many of them it has taken. None is ever changed, only added."""
