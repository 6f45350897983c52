"""The tables of a history, and the steps by which an older file becomes a newer one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.output.table_schema import TableSchema

if TYPE_CHECKING:
    from sqlite_utils import Database


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


HISTORY = TableSchema("history of nsysan", "--store", 0x6E737973, (_first_tables,))
"""``nsys``."""
