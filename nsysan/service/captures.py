"""Files as they were uploaded, each content once, under its SHA-256. The ledger says which of them anybody still needs.

A file takes its place before the ledger tells of it, and leaves it after the ledger has forgotten it: whenever the
process dies, what the ledger tells of is there, and what else lies about belongs to nobody and is swept away.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from nsysan.service.folder import DataFolder, settle

if TYPE_CHECKING:
    from sqlite_utils import Database


def keep(folder: DataFolder, part: Path, sha256: str) -> bool:
    """Give the finished file its place as well; False where that content was there already, which then stays.

    To be called within the change of the ledger that tells of it, so that nobody takes it for unneeded meanwhile.
    """
    place = folder.capture(sha256)
    place.parent.mkdir(exist_ok=True, mode=0o700)
    settle(part)
    try:
        place.hardlink_to(part)
    except FileExistsError:
        return False
    settle(place.parent)
    settle(folder.captures)
    return True


def unneeded(database: Database, hashes: Iterable[str]) -> tuple[str, ...]:
    """Those of the contents that no upload and no run needs any more."""
    query = (
        "select exists (select 1 from files where sha256 = :hash and is_kept) "
        "or exists (select 1 from uploads where sha256 = :hash) as needed"
    )
    return tuple(each for each in dict.fromkeys(hashes) if not next(database.query(query, {"hash": each}))["needed"])


def drop(folder: DataFolder, hashes: Iterable[str]) -> None:
    """Remove these contents after the change that left them unneeded, before the ledger lets anybody else in."""
    for sha256 in hashes:
        folder.capture(sha256).unlink(missing_ok=True)
