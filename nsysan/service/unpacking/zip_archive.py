"""The files in a zip archive."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

from nsysan.model.errors import InputError
from nsysan.model.text import display_text
from nsysan.service.unpacking.budget import PACK_AGAIN, Budget, Counted, DangerousArchiveError, copy
from nsysan.service.unpacking.entry_names import Places, checked

MAGIC = b"PK\x03\x04"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


def unpack_zip(archive: Path, places: Places, budget: Budget) -> None:
    """Put the files down. Raises DangerousArchiveError before anything is written, or where the budget is spent."""
    with zipfile.ZipFile(archive) as opened:
        entries = [(entry, _checked(entry, budget)) for entry in opened.infolist()]
        for entry, parts in entries:
            place = None if entry.is_dir() else places.of(parts, entry.file_size)
            if place is not None:
                with opened.open(entry) as source, place.open("xb") as target:
                    copy(Counted(source, budget), target)


def _checked(entry: zipfile.ZipInfo, budget: Budget) -> tuple[str, ...]:
    budget.enter()
    parts, mode = checked(entry.orig_filename), entry.external_attr >> 16
    name = display_text(entry.filename)
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise DangerousArchiveError(f"The archive's entry {name!r} is a link or a device, not a file.", PACK_AGAIN)
    if entry.flag_bits & _ENCRYPTED:
        raise InputError(f"The archive's entry {name!r} is encrypted.", "Pack it without a password.")
    if entry.compress_type not in _METHODS:
        raise InputError(f"The archive's entry {name!r} is packed in a way that is not read here.", PACK_AGAIN)
    return parts
