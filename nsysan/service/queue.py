"""The queue: which run is analysed next, and what becomes of those whose analysis ends, or is cut off."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from nsysan.service.clock import now_utc
from nsysan.service.ledger import Ledger


class Claim(msgspec.Struct, frozen=True):
    """A run that a worker has taken; the attempt tells its results from those of earlier ones."""

    run_id: str
    attempt: int

    @property
    def name(self) -> str:
        """What its folders are called."""
        return f"{self.run_id}-{self.attempt}"


class Queue:
    """The runs whose analysis has not ended, first come first served. Safe to call from several threads."""

    def __init__(self, ledger: Ledger, interruption_limit: int) -> None:
        self._ledger = ledger
        self._interruption_limit = interruption_limit

    def claim(self) -> Claim | None:
        """The run that has waited longest, which is then running; None where none waits."""
        statement = (
            "update runs set state = 'running', attempt = attempt + 1, started_utc = ? where id = "
            "(select id from runs where state = 'queued' order by queued_utc, id limit 1) returning id, attempt"
        )
        with self._ledger.changing() as database:
            rows = database.execute(statement, [now_utc()]).fetchall()
        return Claim(*rows[0]) if rows else None

    def is_held(self, claim: Claim) -> bool:
        """Whether the run is still this worker's: nobody cancelled or deleted it."""
        query = "select 1 from runs where id = ? and attempt = ? and state = 'running'"
        with self._ledger.reading() as database:
            return bool(database.execute(query, [claim.run_id, claim.attempt]).fetchall())

    def finish(self, claim: Claim, summary: Mapping[str, Any]) -> bool:
        """Whether the run is done with this: False where it was cancelled, deleted or taken anew meanwhile."""
        searched = str(summary.get("sentence", "")).lower()
        return self._end(
            claim,
            "state = 'done', report = :name, summary = :summary, searched = searched || char(10) || :searched",
            {"name": claim.name, "summary": json.dumps(summary), "searched": searched},
        )

    def fail(self, claim: Claim, failure: str, hint: str) -> bool:
        """Whether the run has failed with this sentence: False where it was no longer this worker's."""
        return self._end(
            claim, "state = 'failed', failure = :failure, hint = :hint", {"failure": failure, "hint": hint}
        )

    def put_back(self, claim: Claim) -> bool:
        """Whether the run waits again, in its old place, because the server stops."""
        return self._end(claim, "state = 'queued', started_utc = null", {})

    def recover(self) -> int:
        """How many runs were cut off when the server died: they wait again, behind those that did not yet have a turn.

        One that was cut off too often is given up with a sentence.
        """
        now = now_utc()
        with self._ledger.changing() as database:
            database.execute(
                "update runs set state = 'failed', ended_utc = ?, failure = ?, hint = ? "
                "where state = 'running' and interruptions + 1 >= ?",
                [
                    now,
                    f"The server died {self._interruption_limit} times during this analysis.",
                    "Ask whoever runs it to look into its log, then try again.",
                    self._interruption_limit,
                ],
            )
            return database.execute(
                "update runs set state = 'queued', queued_utc = ?, started_utc = null, "
                "interruptions = interruptions + 1 where state = 'running'",
                [now],
            ).rowcount

    def waiting_count(self) -> int:
        """How many runs wait."""
        with self._ledger.reading() as database:
            return int(database.execute("select count(*) from runs where state = 'queued'").fetchone()[0])

    def place(self, run_id: str) -> int | None:
        """How many runs go before this one; None where it does not wait."""
        ahead = (
            "select count(*) from runs as other join runs as this on this.id = ? "
            "where other.state = 'queued' and (other.queued_utc, other.id) < (this.queued_utc, this.id)"
        )
        with self._ledger.reading() as database:
            waits = database.execute("select 1 from runs where id = ? and state = 'queued'", [run_id]).fetchall()
            return int(database.execute(ahead, [run_id]).fetchone()[0]) if waits else None

    def _end(self, claim: Claim, changes: str, values: Mapping[str, Any]) -> bool:
        statement = (
            f"update runs set ended_utc = :now, {changes} "  # noqa: S608 - our own words
            "where id = :id and attempt = :attempt and state = 'running'"
        )
        bound = {"id": claim.run_id, "attempt": claim.attempt, "now": now_utc(), **values}
        with self._ledger.changing() as database:
            return bool(database.execute(statement, bound).rowcount == 1)
