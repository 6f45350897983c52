"""Runs: what was uploaded together, how far its analysis is, and what came out.

A run is its own place in the queue. Its state changes only from the state it must be in, within one change of the
ledger, so that of two who would change it one comes too late and is told so.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

import msgspec

from nsysan.service.captures import drop, unneeded
from nsysan.service.clock import now_utc
from nsysan.service.folder import DataFolder, remove_tree
from nsysan.service.ledger import Ledger
from nsysan.service.people import Person
from nsysan.service.refusals import Conflict, NotThere, Refusal, TooMuch
from nsysan.service.settings import UploadLimits
from nsysan.service.uploads import Upload

if TYPE_CHECKING:
    from sqlite_utils import Database

_ID_BYTES = 10


class State(Enum):
    """How far the analysis of a run is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_open(self) -> bool:
        """Whether it goes on by itself."""
        return self in (State.QUEUED, State.RUNNING)


class Described(msgspec.Struct, frozen=True):
    """What people say of a run; ``said`` is what its analysis needs to be told, by the names of ``work.order.SAID``."""

    title: str
    project: str = ""
    labels: tuple[str, ...] = ()
    said: Mapping[str, str] = msgspec.field(default_factory=dict)


class RunFile(msgspec.Struct, frozen=True):
    """A file of a run; ``is_kept`` says whether its content is still there."""

    place: int
    name: str
    sha256: str
    size_bytes: int
    is_kept: bool


class ServedRun(msgspec.Struct, frozen=True):
    """A run as the ledger keeps it. ``report`` names its folder of results, ``summary`` what lists show of them."""

    id: str
    team: str
    owner: str
    described: Described
    created_utc: str
    state: State
    attempt: int
    queued_utc: str
    started_utc: str | None
    ended_utc: str | None
    failure: str | None
    hint: str | None
    report: str | None
    summary: Mapping[str, Any]


class Sought(msgspec.Struct, frozen=True):
    """Which runs to list: those that hold every word, of this project, in this state; each empty for all."""

    words: str = ""
    project: str = ""
    state: str = ""


class Runs:
    """All runs of a server. Safe to call from several threads."""

    def __init__(self, ledger: Ledger, folder: DataFolder, limits: UploadLimits) -> None:
        self._ledger = ledger
        self._folder = folder
        self._limits = limits

    def made_before(self, person: Person, key: str | None) -> ServedRun | None:
        """The run that this person's request of this key made, if there was one: its answer was lost then."""
        with self._ledger.reading() as database:
            query = "select * from runs where owner = ? and team = ? and key = ?"
            rows = list(database.query(query, [person.name, person.team, key]))
        return _run(rows[0]) if rows else None

    def create(
        self, person: Person, described: Described, uploads: Sequence[Upload], key: str | None = None
    ) -> ServedRun:
        """A new run of these complete uploads, in the queue; the key is what the client knows its request by.

        Raises Refusal where there are none, TooMuch where they are too many or too large, NotThere where one was used,
        or the key.
        """
        self._check(uploads)
        now, run_id = now_utc(), secrets.token_hex(_ID_BYTES)
        with self._ledger.changing() as database:
            if database.execute("select 1 from runs where owner = ? and key = ?", [person.name, key]).fetchall():
                raise NotThere("A run was made by this request already.", "Send it with another key for another run.")
            for upload in uploads:
                if not database.execute("delete from uploads where id = ? returning id", [upload.id]).fetchall():
                    raise NotThere("An upload was used already or has expired.", "Upload the file again.")
            database.table("runs").insert(
                {
                    "id": run_id,
                    "team": person.team,
                    "owner": person.name,
                    "title": described.title,
                    "project": described.project,
                    "labels": json.dumps(described.labels),
                    "said": json.dumps(described.said),
                    "created_utc": now,
                    "state": State.QUEUED.value,
                    "attempt": 0,
                    "interruptions": 0,
                    "queued_utc": now,
                    "summary": "{}",
                    "searched": _searched(described, [upload.name for upload in uploads]),
                    "key": key,
                }
            )
            database.table("files").insert_all(
                {
                    "run": run_id,
                    "place": place,
                    "name": upload.name,
                    "sha256": upload.sha256,
                    "size_bytes": upload.size_bytes,
                    "is_kept": 1,
                }
                for place, upload in enumerate(uploads)
            )
            return _run(_row(database, run_id))

    def find(self, person: Person, run_id: str) -> ServedRun:
        """The run. Raises NotThere where there is none, or it is another team's."""
        with self._ledger.reading() as database:
            rows = list(database.query("select * from runs where id = ?", [run_id]))
        if not rows or not person.sees(rows[0]["team"]):
            raise NotThere("There is no such run.", "It was deleted, or the address is incomplete.")
        return _run(rows[0])

    def files(self, run_id: str) -> tuple[RunFile, ...]:
        """The files of a run, in the order they were given."""
        with self._ledger.reading() as database:
            rows = list(database.query("select * from files where run = ? order by place", [run_id]))
        return tuple(
            RunFile(row["place"], row["name"], row["sha256"], row["size_bytes"], bool(row["is_kept"])) for row in rows
        )

    def said_of(self, run_id: str) -> Mapping[str, str]:
        """What people said of a run for its analysis; nothing where it is gone."""
        with self._ledger.reading() as database:
            rows = list(database.query("select said from runs where id = ?", [run_id]))
        said: dict[str, str] = json.loads(rows[0]["said"] or "{}") if rows else {}
        return said

    def listed(self, person: Person, sought: Sought, first: int, count: int) -> tuple[tuple[ServedRun, ...], int]:
        """Those of the runs sought that stand from the first on, newest first, and how many there are in all."""
        where, values = _where(person, sought)
        page = f"select * from runs where {where} order by created_utc desc, id limit ? offset ?"  # noqa: S608 - marks
        number = f"select count(*) as n from runs where {where}"  # noqa: S608 - marks
        with self._ledger.reading() as database:
            rows = list(database.query(page, [*values, count, first]))
            total = next(database.query(number, values))["n"]
        return tuple(map(_run, rows)), total

    def projects(self, person: Person) -> tuple[str, ...]:
        """The names of the projects whose runs this person sees."""
        where, values = _where(person, Sought())
        query = f"select distinct project from runs where {where} and project != '' order by project"  # noqa: S608
        with self._ledger.reading() as database:
            return tuple(row["project"] for row in database.query(query, values))

    def cancel(self, run: ServedRun) -> None:
        """Take the run out of the queue, or end its analysis. Raises Conflict where that has ended."""
        self._change(
            run,
            "update runs set state = 'cancelled', ended_utc = :now where id = :id and state in ('queued', 'running')",
            "The analysis has ended already.",
        )

    def retry(self, run: ServedRun) -> None:
        """Put the run into the queue again. Raises Conflict where it is there, is done, or its files are gone."""
        self._change(
            run,
            "update runs set state = 'queued', queued_utc = :now, interruptions = 0, started_utc = null, "
            "ended_utc = null, failure = null, hint = null where id = :id and state in ('failed', 'cancelled') "
            "and not exists (select 1 from files where run = :id and not is_kept)",
            "The run cannot be analysed again.",
        )

    def delete(self, run: ServedRun) -> None:
        """Remove the run, its results, its shares, and those of its files that no other run has."""
        with self._ledger.alone():
            with self._ledger.changing() as database:
                hashes = _hashes(database, run.id)
                for table, column in (("files", "run"), ("shares", "run"), ("runs", "id")):
                    database.execute(f"delete from {table} where {column} = ?", [run.id])  # noqa: S608 - our own names
                gone = unneeded(database, hashes)
            drop(self._folder, gone)
        if run.report is not None:
            remove_tree(self._folder.reports / run.report)

    def discard_captures(self, run_id: str) -> None:
        """Remove those of the run's files that no other run has; its results stay."""
        with self._ledger.alone():
            with self._ledger.changing() as database:
                database.execute("update files set is_kept = 0 where run = ?", [run_id])
                gone = unneeded(database, _hashes(database, run_id))
            drop(self._folder, gone)

    def _change(self, run: ServedRun, statement: str, refusal: str) -> None:
        with self._ledger.changing() as database:
            if database.execute(statement, {"id": run.id, "now": now_utc()}).rowcount != 1:
                raise Conflict(refusal, "Look at the run's page.")

    def _check(self, uploads: Sequence[Upload]) -> None:
        if not uploads:
            raise Refusal("A run needs at least one file.", "Give the .nsys-rep of each rank.")
        if len(uploads) > self._limits.files_of_run:
            raise TooMuch("A run may not have so many files.", f"At most {self._limits.files_of_run}.")
        if any(upload.sha256 is None for upload in uploads):
            raise Conflict("An upload is not complete.", "Send the rest first.")
        if sum(upload.offset_bytes for upload in uploads) > self._limits.run_bytes:
            raise TooMuch(
                "The files are larger than a run may be.", f"At most {self._limits.run_bytes} bytes together."
            )


def _where(person: Person, sought: Sought) -> tuple[str, list[str]]:
    """The condition of a query with marks for its values, and the values."""
    conditions, values = ["1"], []
    if not person.sees_every_team:
        conditions.append("team = ?")
        values.append(person.team)
    for column, wanted in (("project", sought.project), ("state", sought.state)):
        if wanted:
            conditions.append(f"{column} = ?")
            values.append(wanted)
    for word in sought.words.lower().split():
        conditions.append("instr(searched, ?) > 0")
        values.append(word)
    return " and ".join(conditions), values


def _searched(described: Described, names: Iterable[str]) -> str:
    """What a search looks through, in lower case."""
    return "\n".join((described.title, described.project, *described.labels, *names)).lower()


def _hashes(database: Database, run_id: str) -> list[str]:
    return [row["sha256"] for row in database.query("select sha256 from files where run = ?", [run_id])]


def _row(database: Database, run_id: str) -> Mapping[str, Any]:
    return next(database.query("select * from runs where id = ?", [run_id]))


def _run(row: Mapping[str, Any]) -> ServedRun:
    return ServedRun(
        id=row["id"],
        team=row["team"],
        owner=row["owner"],
        described=Described(
            row["title"], row["project"], tuple(json.loads(row["labels"])), json.loads(row["said"] or "{}")
        ),
        created_utc=row["created_utc"],
        state=State(row["state"]),
        attempt=row["attempt"],
        queued_utc=row["queued_utc"],
        started_utc=row["started_utc"],
        ended_utc=row["ended_utc"],
        failure=row["failure"],
        hint=row["hint"],
        report=row["report"],
        summary=json.loads(row["summary"]),
    )
