"""What was done, by whom, from where: kept in the ledger, and said in the log."""

from __future__ import annotations

import logging

import msgspec
from msgspec.structs import replace

from nsysan.service.clock import now_utc
from nsysan.service.ledger import Ledger
from nsysan.service.people import Person

_LOG = logging.getLogger("nsysan.service.audit")


class Deed(msgspec.Struct, frozen=True):
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

    def listed(self, person: Person, subject: str, first: int, count: int) -> tuple[tuple[Deed, ...], int]:
        """Deeds that this person may know of from the first on, newest first, and how many there are in all.

        A team knows of its own deeds, and of those of others on what it has had to do with; where somebody came from
        only those know who see every team. ``subject`` is the run that is asked about, empty for all.
        """
        where, values = ["1"], []
        if not person.sees_every_team:
            where.append("(team = ? or subject in (select subject from audit where team = ? and subject != ''))")
            values += [person.team, person.team]
        if subject:
            where.append("subject = ?")
            values.append(subject)
        condition = " and ".join(where)
        page = f"select * from audit where {condition} order by number desc limit ? offset ?"  # noqa: S608 - marks
        number = f"select count(*) as n from audit where {condition}"  # noqa: S608 - marks
        with self._ledger.reading() as database:
            rows = list(database.query(page, [*values, count, first]))
            total = next(database.query(number, values))["n"]
        deeds = (Deed(*(row[name] for name in Deed.__struct_fields__)) for row in rows)
        return tuple(one if person.sees_every_team else replace(one, address="") for one in deeds), total
