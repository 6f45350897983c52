"""What a server that died left behind, and what nobody needs any more, goes; what the ledger tells of stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from nsysan.service.clock import now_utc
from nsysan.service.folder import DataFolder, remove_tree
from nsysan.service.ledger import Ledger
from nsysan.service.uploads import Uploads


class Swept(msgspec.Struct, frozen=True):
    """How many of each were removed, and how many captures that the ledger tells of are not there."""

    stray_files: int
    expired_uploads: int
    lost_captures: int


def sweep(ledger: Ledger, folder: DataFolder, uploads: Uploads) -> Swept:
    """Remove everything in the folder that the ledger does not tell of, and all that has expired.

    To be called before anything else uses the folder.
    """
    expired = uploads.expired()
    uploads.forget(expired)
    forget_expired(ledger)
    with ledger.changing() as database:
        open_ids = {row["id"] for row in database.query("select id from uploads where sha256 is null")}
        reports = {row["report"] for row in database.query("select report from runs where report is not null")}
        needed = {
            row["sha256"]
            for row in database.query(
                "select sha256 from files where is_kept union select sha256 from uploads where sha256 is not null"
            )
        }
        strays = [
            *_strays(folder.uploads.iterdir(), open_ids),
            *_strays(folder.reports.iterdir(), reports),
            *_strays(folder.captures.glob("*/*"), needed),
            *folder.work.iterdir(),
        ]
        for stray in strays:
            remove_tree(stray)
    lost = sum(not folder.capture(sha256).is_file() for sha256 in needed)
    return Swept(len(strays), len(expired), lost)


def forget_expired(ledger: Ledger) -> None:
    """Forget sessions and share links that have expired."""
    with ledger.changing() as database:
        for table in ("sessions", "shares"):
            database.execute(f"delete from {table} where expires_utc < ?", [now_utc()])  # noqa: S608 - our own names


def _strays(found: Iterator[Path], known: set[str]) -> Iterator[Path]:
    yield from [path for path in found if path.name not in known]
