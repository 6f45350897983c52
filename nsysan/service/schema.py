"""The tables of the ledger, and the steps by which an older one becomes a newer one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nsysan.model.errors import InputError

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x6E737673
"""``nsvs``, where SQLite keeps what a file is of."""


def bring_up_to_date(database: Database) -> None:
    """Take the steps that the file has not taken, within the caller's transaction.

    Raises InputError where the file is none of ours, or newer than this nsysan.
    """
    version = _pragma(database, "user_version")
    if database.table_names() and _pragma(database, "application_id") != APPLICATION_ID:
        raise InputError("ledger.sqlite is no ledger of nsysan serve.", "Name another folder with --data.")
    if version > len(MIGRATIONS):
        raise InputError("This folder was written by a newer nsysan.", "Use that one, or name another with --data.")
    for migrate in MIGRATIONS[version:]:
        migrate(database)
    if version < len(MIGRATIONS):
        database.execute(f"pragma application_id = {APPLICATION_ID}")
        database.execute(f"pragma user_version = {len(MIGRATIONS)}")


def _pragma(database: Database, name: str) -> int:
    return int(database.execute(f"pragma {name}").fetchone()[0])


def _first_tables(database: Database) -> None:
    """Uploads, runs with their files, who may come in, what is shared, and what was done."""
    database.table("uploads").create(
        {
            "id": str,
            "owner": str,
            "team": str,
            "name": str,
            "size_bytes": int,
            "fingerprint": str,
            "created_utc": str,
            "sha256": str,
        },
        pk="id",
        not_null={"owner", "team", "name", "created_utc"},
    )
    database.table("runs").create(
        {
            "id": str,
            "team": str,
            "owner": str,
            "title": str,
            "project": str,
            "labels": str,
            "created_utc": str,
            "state": str,
            "attempt": int,
            "interruptions": int,
            "queued_utc": str,
            "started_utc": str,
            "ended_utc": str,
            "failure": str,
            "hint": str,
            "report": str,
            "summary": str,
            "searched": str,
            "key": str,
        },
        pk="id",
        not_null={"team", "owner", "title", "created_utc", "state", "attempt", "interruptions", "queued_utc"},
    )
    database.table("runs").create_index(["state", "queued_utc"])
    database.table("runs").create_index(["team", "created_utc"])
    database.table("runs").create_index(["owner", "key"], unique=True)
    database.table("files").create(
        {"run": str, "place": int, "name": str, "sha256": str, "size_bytes": int, "is_kept": int}, pk=("run", "place")
    )
    database.table("files").create_index(["sha256"])
    _tables_of_access(database)


def _tables_of_access(database: Database) -> None:
    database.table("tokens").create(
        {
            "name": str,
            "team": str,
            "role": str,
            "hash": str,
            "created_utc": str,
            "expires_utc": str,
            "used_utc": str,
        },
        pk="name",
    )
    database.table("tokens").create_index(["hash"], unique=True)
    database.table("sessions").create({"hash": str, "token": str, "csrf": str, "expires_utc": str}, pk="hash")
    database.table("shares").create(
        {
            "id": str,
            "run": str,
            "hash": str,
            "created_by": str,
            "created_utc": str,
            "expires_utc": str,
            "revoked_utc": str,
        },
        pk="id",
    )
    database.table("shares").create_index(["hash"], unique=True)
    database.table("shares").create_index(["run"])
    database.table("audit").create(
        {
            "number": int,
            "at_utc": str,
            "actor": str,
            "team": str,
            "address": str,
            "action": str,
            "subject": str,
            "detail": str,
        },
        pk="number",
    )


MIGRATIONS: tuple[Callable[[Database], None], ...] = (_first_tables,)
"""In order; a file's ``user_version`` says how many of them it has taken. None is ever changed, only added."""
