"""Who may come in: tokens and the browser sessions begun with them, of all of which only hashes are kept.

A secret is 32 random bytes, so that a plain SHA-256 of it cannot be turned back, and no slow hash is needed.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

import msgspec

from nsysan.model.errors import UsageError
from nsysan.model.text import visible_text
from nsysan.service.clock import now_utc
from nsysan.service.ledger import Ledger
from nsysan.service.people import Person, Role

SECRET_BYTES = 32
TOKEN_PREFIX = "nsysan_"  # noqa: S105 - not a secret, but what leaked ones are found by
SESSION_S = 12 * 3600.0
_NOTED_EVERY_S = 3600.0
"""The time a token was last used is kept this exactly: it is not worth a write a request."""


class Token(msgspec.Struct, frozen=True):
    """A token as it is listed."""

    name: str
    team: str
    role: Role
    created_utc: str
    expires_utc: str | None
    used_utc: str | None


class Session(msgspec.Struct, frozen=True):
    """Somebody who logged in with a browser; their forms carry ``csrf``."""

    person: Person
    csrf: str


def hash_of(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class Access:
    """The tokens and sessions in a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add_token(self, person: Person, valid_s: float | None) -> str:
        """The secret of a new token for this person, shown this once. Raises UsageError where the name is taken."""
        secret = TOKEN_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        with self._ledger.changing() as database:
            if database.execute("select 1 from tokens where name = ?", [person.name]).fetchall():
                raise UsageError(f"There is a token {visible_text(person.name)!r} already.", "Choose another name.")
            database.table("tokens").insert(
                {
                    "name": person.name,
                    "team": person.team,
                    "role": person.role.value,
                    "hash": hash_of(secret),
                    "created_utc": now_utc(),
                    "expires_utc": None if valid_s is None else now_utc(valid_s),
                    "used_utc": None,
                }
            )
        return secret

    def revoke_token(self, name: str) -> None:
        """Let nobody in with this token any more. Raises UsageError where there is none."""
        with self._ledger.changing() as database:
            if database.execute("delete from tokens where name = ?", [name]).rowcount != 1:
                raise UsageError(f"There is no token {visible_text(name)!r}.", "List them: nsysan token list")
            database.execute("delete from sessions where token = ?", [name])

    def tokens(self) -> tuple[Token, ...]:
        """All tokens, by name."""
        with self._ledger.reading() as database:
            rows = list(database.query("select * from tokens order by name"))
        return tuple(
            Token(row["name"], row["team"], Role(row["role"]), row["created_utc"], row["expires_utc"], row["used_utc"])
            for row in rows
        )

    def person_with(self, secret: str) -> Person | None:
        """Whose token this is, None where it is nobody's or has expired."""
        query = "select * from tokens where hash = ? and (expires_utc is null or expires_utc > ?)"
        with self._ledger.reading() as database:
            rows = list(database.query(query, [hash_of(secret), now_utc()]))
        if not rows:
            return None
        if (rows[0]["used_utc"] or "") < now_utc(-_NOTED_EVERY_S):
            with self._ledger.changing() as database:
                database.execute("update tokens set used_utc = ? where name = ?", [now_utc(), rows[0]["name"]])
        return _person(rows[0])

    def begin_session(self, person: Person) -> str:
        """The secret of a new session of this person, for the cookie."""
        secret = secrets.token_urlsafe(SECRET_BYTES)
        with self._ledger.changing() as database:
            database.table("sessions").insert(
                {
                    "hash": hash_of(secret),
                    "token": person.name,
                    "csrf": secrets.token_urlsafe(SECRET_BYTES),
                    "expires_utc": now_utc(SESSION_S),
                }
            )
        return secret

    def session_with(self, secret: str) -> Session | None:
        """The session, None where there is none, or it or its token has expired."""
        query = (
            "select tokens.*, sessions.csrf from sessions join tokens on tokens.name = sessions.token "
            "where sessions.hash = :hash and sessions.expires_utc > :now "
            "and (tokens.expires_utc is null or tokens.expires_utc > :now)"
        )
        with self._ledger.reading() as database:
            rows = list(database.query(query, {"hash": hash_of(secret), "now": now_utc()}))
        return Session(_person(rows[0]), rows[0]["csrf"]) if rows else None

    def end_session(self, secret: str) -> None:
        """Log out."""
        with self._ledger.changing() as database:
            database.execute("delete from sessions where hash = ?", [hash_of(secret)])


def _person(row: Mapping[str, Any]) -> Person:
    return Person(row["name"], row["team"], Role(row["role"]))
