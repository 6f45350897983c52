"""Files of an older nsysan take the steps they lack, all or none; those of a newer one are refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlite_utils import Database

from nsysan.history.schema import HISTORY
from nsysan.history.store import Details, Store
from nsysan.model.errors import InputError
from nsysan.output.table_schema import TableSchema
from nsysan.service.ledger import Ledger
from nsysan.service.schema import LEDGER
from tests.history.snapshots import snapshot
from tests.service.heart import heart_in

NOW = Details("2026-01-01T00:00:00Z")


def _first(database: Database) -> None:
    database.table("a").create({"x": int})


def _second(database: Database) -> None:
    database.table("a").add_column("y", str)
    database.table("a").insert({"x": 1, "y": "new"})


def _fails(database: Database) -> None:
    database.table("b").create({"x": int})
    raise RuntimeError("no more")


def _schema(*steps: Callable[[Database], None]) -> TableSchema:
    return TableSchema("letter", "--letter", 7, steps)


def _tables(path: Path) -> dict[str, list[tuple[object, ...]]]:
    connection = sqlite3.connect(path)
    database = Database(connection)
    found = {name: list(connection.execute(f"select * from {name}")) for name in database.table_names()}
    connection.close()
    return found


def _update(path: Path, schema: TableSchema) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        schema.bring_up_to_date(Database(connection), path.name)
        connection.execute("COMMIT")
    finally:
        connection.close()


def test_a_file_takes_the_steps_it_lacks_and_none_twice(tmp_path: Path) -> None:
    path = tmp_path / "letters.sqlite"

    _update(path, _schema(_first))
    assert _tables(path) == {"a": []}
    for _ in range(2):
        _update(path, _schema(_first, _second))

    assert _tables(path) == {"a": [(1, "new")]}


def test_where_a_step_fails_none_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "letters.sqlite"
    _update(path, _schema(_first))

    with pytest.raises(RuntimeError):
        _update(path, _schema(_first, _second, _fails))

    assert _tables(path) == {"a": []}
    _update(path, _schema(_first, _second))
    assert _tables(path) == {"a": [(1, "new")]}


def test_a_newer_file_and_a_strange_one_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "letters.sqlite"
    _update(path, _schema(_first, _second))

    with pytest.raises(InputError, match=r"letters\.sqlite was written by a newer nsysan"):
        _update(path, _schema(_first))
    with pytest.raises(InputError, match=r"letters\.sqlite is no parcel"):
        _update(path, replace(_schema(_first, _second), what="parcel", application_id=8))


def test_a_history_of_an_older_nsysan_is_read_by_none_and_updated_by_the_next_add(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, run = Store(tmp_path / "history.sqlite"), snapshot()
    store.add({"old": run}, NOW)
    newer = replace(HISTORY, steps=(*HISTORY.steps, _first))
    monkeypatch.setattr("nsysan.history.store.HISTORY", newer)

    with pytest.raises(InputError, match="is of an older nsysan"):
        store.runs([])
    store.add({"new": run}, NOW)

    assert [(kept.id, kept.snapshot) for kept in store.runs(None)] == [("old", run), ("new", run)]


def test_a_folder_of_an_older_server_keeps_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("nsysan.service.ledger.LEDGER", replace(LEDGER, steps=LEDGER.steps[:1]))
        (tmp_path / "data").mkdir()
        ledger = Ledger(tmp_path / "data" / "ledger.sqlite")
        with ledger.changing() as database:
            columns = {"id": "r1", "team": "red", "owner": "anna", "title": "old", "project": "", "labels": "[]"}
            times = {"created_utc": "2026", "queued_utc": "2026"}
            counts = {"attempt": 0, "interruptions": 0, "state": "queued", "summary": "{}"}
            database.table("runs").insert({**columns, **times, **counts})
        ledger.close()

    heart = heart_in(tmp_path / "data")

    claim = heart.queue.claim()
    assert claim is not None
    assert (claim.run_id, dict(heart.runs.said_of("r1"))) == ("r1", {})
    heart.ledger.close()
