"""Links that show one report to whoever has them, until they expire or are revoked."""

from __future__ import annotations

import secrets

import msgspec

from nsysan.service.access import SECRET_BYTES, hash_of
from nsysan.service.clock import now_utc
from nsysan.service.ledger import Ledger
from nsysan.service.people import Person
from nsysan.service.refusals import NotThere
from nsysan.service.runs import ServedRun

_ID_BYTES = 6


class Share(msgspec.Struct, frozen=True):
    """A link as it is listed: its secret is not kept."""

    id: str
    created_by: str
    created_utc: str
    expires_utc: str


class Shares:
    """The links in a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def create(self, person: Person, run: ServedRun, valid_s: float) -> str:
        """The secret of a new link to this run's report, shown this once."""
        secret = secrets.token_urlsafe(SECRET_BYTES)
        with self._ledger.changing() as database:
            database.table("shares").insert(
                {
                    "id": secrets.token_hex(_ID_BYTES),
                    "run": run.id,
                    "hash": hash_of(secret),
                    "created_by": person.name,
                    "created_utc": now_utc(),
                    "expires_utc": now_utc(valid_s),
                    "revoked_utc": None,
                }
            )
        return secret

    def of(self, run: ServedRun) -> tuple[Share, ...]:
        """The links to this run's report that still work, oldest first."""
        query = "select * from shares where run = ? and revoked_utc is null and expires_utc > ? order by created_utc"
        with self._ledger.reading() as database:
            rows = list(database.query(query, [run.id, now_utc()]))
        return tuple(Share(row["id"], row["created_by"], row["created_utc"], row["expires_utc"]) for row in rows)

    def revoke(self, run: ServedRun, share_id: str) -> None:
        """Let the link show nothing any more. Raises NotThere where the run has none such."""
        statement = "update shares set revoked_utc = ? where id = ? and run = ? and revoked_utc is null"
        with self._ledger.changing() as database:
            if database.execute(statement, [now_utc(), share_id, run.id]).rowcount != 1:
                raise NotThere("There is no such link.", "It was revoked already.")

    def report_behind(self, secret: str) -> str:
        """The folder of the report that the link shows. Raises NotThere where it shows none."""
        query = (
            "select report from shares join runs on runs.id = shares.run where hash = ? "
            "and revoked_utc is null and expires_utc > ? and report is not null"
        )
        with self._ledger.reading() as database:
            rows = database.execute(query, [hash_of(secret), now_utc()]).fetchall()
        if not rows:
            raise NotThere("This link shows nothing.", "It was revoked or has expired: ask for another.")
        return str(rows[0][0])
