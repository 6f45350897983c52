"""The tables of the ledger, and the steps by which an older one becomes a newer one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.output.table_schema import TableSchema

if TYPE_CHECKING:
    from sqlite_utils import Database


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


def _said_of_runs(database: Database) -> None:
    """What people said of a run's model and ranks."""
    database.table("runs").add_column("said", str)


def _audit_by_subject(database: Database) -> None:
    """Who did what is asked by team and by run."""
    database.table("audit").create_index(["subject"])
    database.table("audit").create_index(["team"])


LEDGER = TableSchema("ledger of nsysan serve", "--data", 0x6E737673, (_first_tables, _said_of_runs, _audit_by_subject))
"""``nsvs``."""
