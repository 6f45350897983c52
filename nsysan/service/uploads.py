"""Uploads that go on where they broke off.

An upload is announced, then brought in pieces, each at the offset that the file has reached, then used in a run. How
far it has come is how long its file is, which holds whatever dies; the ledger learns of it when it is complete.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Protocol

import msgspec

from nsysan.service.captures import drop, keep, unneeded
from nsysan.service.clock import now_utc
from nsysan.service.folder import DataFolder
from nsysan.service.ledger import Ledger
from nsysan.service.names import file_name
from nsysan.service.people import Person
from nsysan.service.refusals import Conflict, NotThere, Refusal, TooMuch
from nsysan.service.settings import UploadLimits

_CHUNK_BYTES = 1 << 20
_ID_BYTES = 12


class Announced(msgspec.Struct, frozen=True):
    """What a client says of a file before it brings it. ``fingerprint`` is how it will know it again, its own way."""

    name: str
    size_bytes: int | None
    fingerprint: str | None = None


class Upload(msgspec.Struct, frozen=True):
    """An upload: how far it has come, and its content's SHA-256 once it is complete."""

    id: str
    owner: str
    team: str
    name: str
    size_bytes: int | None
    offset_bytes: int
    sha256: str | None


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


class _Hashed(msgspec.Struct):
    """The hash of what an upload holds so far, to go on with; lost with the process, and then made from the file."""

    digest: _Digest
    bytes: int


class Uploads:
    """All uploads of a server. Safe to call from several threads."""

    def __init__(self, ledger: Ledger, folder: DataFolder, limits: UploadLimits) -> None:
        self._ledger = ledger
        self._folder = folder
        self._limits = limits
        self._hashed: dict[str, _Hashed] = {}
        self._locks: dict[str, Lock] = {}
        self._left: set[str] = set()

    def announce(self, person: Person, announced: Announced) -> Upload:
        """A new upload, or the one this person began of the same content and never ended.

        Raises TooMuch where it is larger than allowed, or too many are under way; NoRoom where the disk is too full.
        """
        self._check_size(announced.size_bytes or 0)
        self._folder.demand_room(announced.size_bytes or 0, self._limits.free_bytes)
        with self._ledger.changing() as database:
            if announced.fingerprint is not None:
                query = "select * from uploads where owner = ? and team = ? and fingerprint = ? and size_bytes is ?"
                values = [person.name, person.team, announced.fingerprint, announced.size_bytes]
                for row in database.query(query, values):
                    if row["sha256"] is None and self._is_nobodys(row["id"]):
                        return self._upload(row)
            count = next(database.query("select count(*) as n from uploads where owner = ?", [person.name]))["n"]
            if count >= self._limits.open_uploads:
                raise TooMuch("Too many uploads of yours are under way.", "End or delete some first.", status=429)
            row = {
                "id": secrets.token_hex(_ID_BYTES),
                "owner": person.name,
                "team": person.team,
                "name": file_name(announced.name),
                "size_bytes": announced.size_bytes,
                "fingerprint": announced.fingerprint,
                "created_utc": now_utc(),
                "sha256": None,
            }
            self._part(row["id"]).touch(mode=0o600)
            database.table("uploads").insert(row)
        return self._upload(row)

    def find(self, person: Person, upload_id: str) -> Upload:
        """The upload. Raises NotThere where there is none, or it is somebody else's."""
        with self._ledger.reading() as database:
            rows = list(database.query("select * from uploads where id = ?", [upload_id]))
        if not rows or (rows[0]["owner"], rows[0]["team"]) != (person.name, person.team):
            raise NotThere("There is no such upload.", "It was used or has expired: begin again.")
        return self._upload(rows[0])

    def append(self, upload: Upload, offset_bytes: int, data: bytes) -> int:
        """How far the upload has come with this piece.

        Raises Conflict where the file has not reached the offset or is beyond it, TooMuch where it would grow too
        large, NoRoom or OSError where the disk is too full; what came before stays.
        """
        self._check_size(offset_bytes + len(data), announced=upload.size_bytes)
        self._folder.demand_room(len(data), self._limits.free_bytes)
        with self._locked(upload.id), self._opened(upload.id) as file:
            reached = file.seek(0, os.SEEK_END)
            if reached != offset_bytes:
                raise Conflict(f"The upload has {reached} bytes, not {offset_bytes}.", "Go on from there.")
            # where the server began anew meanwhile, the whole is hashed when it is complete
            hashed = _Hashed(hashlib.sha256(), 0) if not reached else self._hashed.pop(upload.id, None)
            self._left.discard(upload.id)
            file.write(data)
            file.flush()
            if hashed is not None and hashed.bytes == reached:
                hashed.digest.update(data)
                hashed.bytes += len(data)
                self._hashed[upload.id] = hashed
            return reached + len(data)

    def leave(self, upload: Upload) -> None:
        """Its client broke off: whoever announces it again goes on with it at once."""
        self._left.add(upload.id)

    def complete(self, upload: Upload, sha256: str | None = None) -> Upload:
        """The upload with its content in its place, and kept by the ledger.

        Raises Conflict where bytes are missing, Refusal where there are none or the content is not what the client
        hashed; then it begins again from nothing.
        """
        with self._locked(upload.id):
            if upload.sha256 is not None:
                return upload
            part = self._part(upload.id)
            reached = part.stat().st_size if part.exists() else 0
            if upload.size_bytes is not None and reached != upload.size_bytes:
                raise Conflict(f"Only {reached} of {upload.size_bytes} bytes have come.", "Send the rest first.")
            if not reached:
                raise Refusal(f"{upload.name} is empty: the capture did not finish.", "Record it again.")
            found = self._hash_to(upload.id, reached).digest.hexdigest()
            if sha256 is not None and sha256 != found:
                self._begin_again(upload.id)
                raise Refusal("The file arrived changed: its SHA-256 differs.", "Send it again.", status=422)
            self._keep(upload.id, found, reached)
            part.unlink(missing_ok=True)
            self._hashed.pop(upload.id, None)
            self._left.discard(upload.id)
        return Upload(upload.id, upload.owner, upload.team, upload.name, reached, reached, found)

    def forget(self, upload_ids: tuple[str, ...]) -> None:
        """Remove these uploads and what has come of them."""
        with self._ledger.alone():
            with self._ledger.changing() as database:
                hashes = []
                for upload_id in upload_ids:
                    rows = database.query("select sha256 from uploads where id = ?", [upload_id])
                    hashes += [row["sha256"] for row in rows if row["sha256"] is not None]
                    database.execute("delete from uploads where id = ?", [upload_id])
                gone = unneeded(database, hashes)
            drop(self._folder, gone)
        for upload_id in upload_ids:
            self._part(upload_id).unlink(missing_ok=True)
            self._hashed.pop(upload_id, None)
            self._locks.pop(upload_id, None)
            self._left.discard(upload_id)

    def expired(self) -> tuple[str, ...]:
        """The ids of uploads that nobody has touched for as long as they are kept."""
        with self._ledger.reading() as database:
            rows = list(database.query("select id, created_utc, sha256 from uploads"))
        oldest_utc = now_utc(-self._limits.kept_s)
        return tuple(
            row["id"]
            for row in rows
            if row["created_utc"] < oldest_utc and not self._is_touched(row["id"], self._limits.kept_s)
        )

    def _is_nobodys(self, upload_id: str) -> bool:
        """Whether its client broke off, or nothing of it has come for so long that nobody can be at it."""
        return upload_id in self._left or not self._is_touched(upload_id, self._limits.resting_s)

    def _is_touched(self, upload_id: str, within_s: float) -> bool:
        """Whether something of it came so short a time ago."""
        try:
            return time.time() - self._part(upload_id).stat().st_mtime < within_s
        except FileNotFoundError:
            return False

    def _check_size(self, size_bytes: int, announced: int | None = None) -> None:
        if size_bytes > self._limits.file_bytes:
            raise TooMuch("The file is larger than this server takes.", f"At most {self._limits.file_bytes} bytes.")
        if announced is not None and size_bytes > announced:
            raise TooMuch("More comes than was announced.", "Begin again with the right size.")

    def _upload(self, row: Mapping[str, Any]) -> Upload:
        if row["sha256"] is not None:
            offset_bytes = row["size_bytes"]
        else:
            part = self._part(row["id"])
            offset_bytes = part.stat().st_size if part.exists() else 0
        return Upload(row["id"], row["owner"], row["team"], row["name"], row["size_bytes"], offset_bytes, row["sha256"])

    def _part(self, upload_id: str) -> Path:
        return self._folder.uploads / upload_id

    def _opened(self, upload_id: str) -> BinaryIO:
        """What has come so far, to write on. Raises NotThere where it is not there, or no more: none is made."""
        try:
            return self._part(upload_id).open("r+b")
        except FileNotFoundError:
            raise NotThere("There is no such upload.", "It was used or has expired: begin again.") from None

    def _hash_to(self, upload_id: str, reached_bytes: int) -> _Hashed:
        """The hash of what is in the file, gone on with where it is known, else made from the file."""
        known = self._hashed.get(upload_id)
        if known is None or known.bytes != reached_bytes:
            known = _Hashed(hashlib.sha256(), 0)
            with self._part(upload_id).open("rb") as file:
                while chunk := file.read(_CHUNK_BYTES):
                    known.digest.update(chunk)
                    known.bytes += len(chunk)
            self._hashed[upload_id] = known
        return known

    def _keep(self, upload_id: str, sha256: str, size_bytes: int) -> None:
        is_new = False
        try:
            with self._ledger.changing() as database:
                is_new = keep(self._folder, self._part(upload_id), sha256)
                database.table("uploads").update(upload_id, {"sha256": sha256, "size_bytes": size_bytes})
        except BaseException:
            if is_new:
                # else the upload that goes on would write into what has the name of this content
                drop(self._folder, [sha256])
            raise

    def _begin_again(self, upload_id: str) -> None:
        self._hashed.pop(upload_id, None)
        os.truncate(self._part(upload_id), 0)

    @contextmanager
    def _locked(self, upload_id: str) -> Iterator[None]:
        with self._locks.setdefault(upload_id, Lock()):
            yield
