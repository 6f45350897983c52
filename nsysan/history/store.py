"""Runs kept in one SQLite file that many processes may write to at once.

``add`` is one transaction that begins by taking the write lock: two writers wait for each other, one that is killed
leaves nothing behind, and whoever finds an older file brings it up to date within it. The file is in SQLite's rollback
mode, which, other than its write-ahead log, works on network file systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from nsysan.history.schema import HISTORY
from nsysan.history.snapshot import Snapshot
from nsysan.model.errors import InputError, MissingToolError, UsageError
from nsysan.model.figures import Figure
from nsysan.model.text import visible_text
from nsysan.output.failure import writing
from nsysan.output.staging import part_file

if TYPE_CHECKING:
    from sqlite_utils import Database

PATIENCE_S = 60.0
"""How long a writer waits for others."""
_ANOTHER = "Name another with --store."
_SQLITE = b"SQLite format 3\x00"


class KeptRun(msgspec.Struct, frozen=True):
    """A run in the store: what it is called there, when and for which commit it was added, and what it was."""

    id: str
    added_utc: str
    commit: str | None
    labels: Mapping[str, str]
    baselines: tuple[str, ...]
    snapshot: Snapshot

    def value_of(self, figure_id: str) -> float | None:
        """The value of a figure, None where the run does not know it."""
        figure = self.snapshot.figure(figure_id)
        return None if figure is None else figure.value


class Details(msgspec.Struct, frozen=True):
    """What is said of a run when it is added; ``labels`` name it, and play no part in what it can be compared with."""

    added_utc: str
    commit: str | None = None
    labels: Mapping[str, str] | None = None
    baseline: str | None = None


class Store:
    """A file of runs. Raises InputError where the file is something else, UsageError where a run is not there."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def check_place(self) -> None:
        """Refuse what ``add`` would refuse of the file, before runs are read for it; no new file is left behind."""
        _database_type()
        with writing(self._path, _ANOTHER):
            place = self._opened(writes=True) if self._path.exists() else part_file(self._path)
            with place:
                pass

    def add(self, snapshots: Mapping[str, Snapshot], details: Details) -> tuple[str, ...]:
        """Keep all of these runs, by id, or none; the ids of those that were not there yet.

        A run that is there already is not kept twice, but becomes part of the baseline all the same.
        """
        with self._opened(writes=True) as database:
            known = {row["id"] for row in database.query("select id from runs")}
            for run_id, snapshot in snapshots.items():
                if run_id not in known:
                    _insert(database, run_id, snapshot, details)
                if details.baseline is not None:
                    entry = {"name": details.baseline, "run": run_id, "added_utc": details.added_utc}
                    database.table("baselines").insert(entry, ignore=True)
        return tuple(run_id for run_id in snapshots if run_id not in known)

    def runs(self, figure_ids: Sequence[str] | None) -> tuple[KeptRun, ...]:
        """Every run in the order they were added, with these figures, or with all where it is None."""
        return self._read("select id from runs order by number", (), figure_ids)

    def baseline(self, name: str) -> tuple[KeptRun, ...]:
        """The runs of a baseline, in the order they were added."""
        query = "select runs.id from runs join baselines on run = runs.id where baselines.name = ? order by number"
        found = self._read(query, (name,))
        if not found:
            raise UsageError(
                f"There is no baseline {visible_text(name)!r} in {self._name}.",
                "Make it with: nsysan history add RUN... --baseline NAME",
            )
        return found

    def latest(self) -> KeptRun:
        """The run that was added last."""
        return self._read("select id from runs order by number desc limit 1", ())[0]

    def run(self, run_id: str) -> KeptRun:
        """The one run whose id begins so."""
        escaped = run_id.replace("!", "!!").replace("%", "!%").replace("_", "!_")
        found = self._read("select id from runs where id like ? escape '!' order by number", (f"{escaped}%",))
        if len(found) != 1 or not run_id:
            how_many = "no run" if not found else "more than one run"
            raise UsageError(
                f"{how_many.capitalize()} begins with {visible_text(run_id)!r}.", "List: nsysan history list"
            )
        return found[0]

    def _read(self, query: str, values: Sequence[str], figure_ids: Sequence[str] | None = None) -> tuple[KeptRun, ...]:
        if not self._path.is_file():
            raise InputError(f"There is no history at {self._name}.", "Begin one with: nsysan history add RUN...")
        with self._opened(writes=False) as database:
            try:
                return tuple(_kept(database, row["id"], figure_ids) for row in list(database.query(query, values)))
            except ValueError as error:
                raise InputError(f"A run in {self._name} is damaged: {visible_text(str(error))}.", _ANOTHER) from error

    @property
    def _name(self) -> str:
        return visible_text(str(self._path))

    def _update(self, database: Database, *, may_write: bool) -> None:
        """Bring the file up to date, or raise InputError where it must be and nothing may be written."""
        if may_write:
            HISTORY.bring_up_to_date(database, self._name)
        elif not HISTORY.is_up_to_date(database, self._name):
            raise InputError(f"{self._name} is of an older nsysan.", "Any nsysan history add RUN brings it up to date.")

    @contextmanager
    def _opened(self, *, writes: bool) -> Iterator[Database]:
        import sqlite3

        database_type = _database_type()
        _refuse_strangers(self._path, self._name)
        try:
            connection = sqlite3.connect(self._path, timeout=PATIENCE_S, isolation_level=None)
            try:
                connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                database = database_type(connection, execute_plugins=False, recursive_triggers=False)
                self._update(database, may_write=writes)
                yield database
                connection.execute("COMMIT")
            finally:
                connection.close()
        except sqlite3.DatabaseError as error:
            raise InputError(f"The history {self._name} cannot be used: {error}.", _ANOTHER) from error


def _database_type() -> type[Database]:
    try:
        from sqlite_utils import Database
    except ImportError as error:
        raise MissingToolError(
            "A history needs sqlite-utils, which is not installed.", "Install it with: pip install 'nsysan[history]'"
        ) from error
    return Database


def _refuse_strangers(path: Path, name: str) -> None:
    """Raise InputError where there is a file that is no SQLite database: SQLite itself complains late and unclearly."""
    if not path.exists():
        return
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(_SQLITE)) in (_SQLITE, b""):
                return
    raise InputError(f"{name} is no history of nsysan.", "Name another file with --store.")


def _insert(database: Database, run_id: str, snapshot: Snapshot, details: Details) -> None:
    database.table("runs").insert(
        {
            "id": run_id,
            "added_utc": details.added_utc,
            "created_utc": snapshot.created_utc,
            "nsysan_version": snapshot.nsysan_version,
            "git_commit": details.commit,
            "labels": _json(dict(details.labels or {})),
            "reports": _json(snapshot.reports),
            "conditions": _json(snapshot.conditions),
            "findings": _json(snapshot.findings),
            "skipped": _json(snapshot.skipped),
        }
    )
    database.table("figures").insert_all([_kind_of(figure) for figure in snapshot.figures], replace=True)
    database.table("amounts").insert_all(
        {"run": run_id, "figure": figure.id, "place": place, "value": figure.value, "error": figure.standard_error}
        for place, figure in enumerate(snapshot.figures)
    )


def _kind_of(figure: Figure) -> dict[str, str | None]:
    """What of a figure is the same in every run."""
    return {
        "id": figure.id,
        "topic": figure.topic.id,
        "title": figure.topic.title,
        "key": figure.key,
        "name": figure.name,
        "unit": figure.unit.value,
        "better": figure.better.value,
        "part_of": figure.part_of,
    }


def _kept(database: Database, run_id: str, figure_ids: Sequence[str] | None) -> KeptRun:
    """The run as it was added. Raises ValueError where somebody has changed it into none."""
    (row,) = database.query("select * from runs where id = ?", [run_id])
    names = database.query("select name from baselines where run = ? order by name", [run_id])
    wanted = "" if figure_ids is None else f" and figure in ({', '.join('?' * len(figure_ids))})"
    amounts = database.query(
        f"select * from amounts join figures on id = figure where run = ?{wanted} order by place",  # noqa: S608 - marks
        [run_id, *(figure_ids or ())],
    )
    snapshot = {
        **row,
        **{column: _decoded(row[column]) for column in ("reports", "conditions", "findings", "skipped")},
        "figures": [_figure(amount) for amount in amounts],
    }
    told = {
        **row,
        "commit": row["git_commit"],
        "labels": _decoded(row["labels"]),
        "baselines": [entry["name"] for entry in names],
        "snapshot": snapshot,
    }
    return msgspec.convert(told, KeptRun)


def _figure(row: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(row["value"], float) or not isfinite(row["value"]):
        raise ValueError(f"a figure is {row['value']!r}")
    return {**row, "topic": {"id": row["topic"], "title": row["title"]}, "standard_error": row["error"]}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _decoded(text: object) -> Any:
    if isinstance(text, str):
        return msgspec.json.decode(text)
    raise ValueError(f"there is {type(text).__name__} instead of JSON")
