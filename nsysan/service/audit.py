"""What was done, by whom, from where: kept in the ledger, and said in the log."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from nsysan.service.clock import now_utc
from nsysan.service.ledger import Ledger
from nsysan.service.people import Person

_LOG = logging.getLogger("nsysan.service.audit")


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that was done."""

    at_utc: str
    actor: str
    team: str
    address: str
    action: str
    subject: str
    detail: str


class Audit:
    """The deeds in a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def record(self, person: Person | None, address: str, action: str, subject: str = "", detail: str = "") -> None:
        """Keep that this was done; no secret may be in it."""
        actor, team = ("", "") if person is None else (person.name, person.team)
        deed = {"at_utc": now_utc(), "actor": actor, "team": team, "address": address}
        deed |= {"action": action, "subject": subject, "detail": detail}
        with self._ledger.changing() as database:
            database.table("audit").insert(deed)
        _LOG.info(action, extra={key: value for key, value in deed.items() if key not in ("at_utc", "action")})

    def latest(self, count: int) -> tuple[Deed, ...]:
        """The latest deeds, newest first."""
        with self._ledger.reading() as database:
            rows = list(database.query("select * from audit order by number desc limit ?", [count]))
        return tuple(
            Deed(*(row[key] for key in ("at_utc", "actor", "team", "address", "action", "subject", "detail")))
            for row in rows
        )
