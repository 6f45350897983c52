"""Names inside archives: which are refused, and under what names of ours what they name is put down."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

import msgspec

from nsysan.model.text import display_text
from nsysan.pipeline.inputs import REPORT_SUFFIXES, TORCH_SUFFIXES
from nsysan.service.names import file_name
from nsysan.service.unpacking.budget import PACK_AGAIN, DangerousArchiveError

_TABLE = re.compile(r"[A-Za-z0-9_]{1,100}\.(?:parquet|arrow)")
_TABLE_FOLDER = re.compile(r"_(?:pqt|arw)dir")
_NAME_BYTES = 12
_LARGEST_BESIDE_BYTES = 1 << 30
"""What tells more of a run is text. A checkpoint that was packed with it is left where it is."""
_DRIVE = re.compile(r"[A-Za-z]:")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


class Unpacked(msgspec.Struct, frozen=True):
    """A file, or a folder of a report's tables, under a name of ours; ``name`` is what people call it.

    ``beside_in`` is the archive in which it lay where no name there says that it is a report: what it is, or whether it
    is of any use, its content says.
    """

    path: Path
    name: str
    beside_in: str | None = None


def checked(name: str) -> tuple[str, ...]:
    """The parts of an entry's name.

    Raises DangerousArchiveError where it is absolute, leaves its folder, names a device or hides a zero byte.
    """
    parts = tuple(part for part in re.split(r"[/\\]", name) if part not in ("", "."))
    leads_away = name.startswith(("/", "\\")) or _DRIVE.match(name) or ".." in parts
    if leads_away or "\0" in name or any(_DEVICE.fullmatch(part) for part in parts):
        raise DangerousArchiveError(f"The archive's entry {display_text(name)!r} would lie outside of it.", PACK_AGAIN)
    return parts


def random_name(place: int = 0) -> str:
    """A name of ours that stands in no text by chance, and sorts by its place."""
    return f"report-{place:05d}-{secrets.token_hex(_NAME_BYTES)}"


class Places:
    """Gives each entry of an archive its place in the folder; what can be nothing to read has none."""

    def __init__(self, folder: Path, archive: str) -> None:
        self._folder = folder
        self._archive = archive
        self._table_folders: dict[tuple[str, ...], Path] = {}
        self.found: list[Unpacked] = []

    def of(self, parts: tuple[str, ...], size_bytes: int) -> Path | None:
        """Where to put the entry, which is as long as the archive says; None where it is nothing to read."""
        if not parts or parts[-1].startswith("._"):
            return None
        if len(parts) > 1 and _TABLE_FOLDER.search(parts[-2]) and _TABLE.fullmatch(parts[-1]):
            return self._table_folder(parts[:-1]) / parts[-1]
        if parts[-1].lower().endswith((*REPORT_SUFFIXES, *TORCH_SUFFIXES)):
            return self._next(parts[-1])
        return self._next(parts[-1], self._archive) if size_bytes <= _LARGEST_BESIDE_BYTES else None

    def _table_folder(self, parts: tuple[str, ...]) -> Path:
        known = self._table_folders.get(parts)
        if known is None:
            known = self._table_folders[parts] = self._next(parts[-1])
            known.mkdir(mode=0o700)
        return known

    def _next(self, name: str, beside_in: str | None = None) -> Path:
        place = self._folder / random_name()
        self.found.append(Unpacked(place, file_name(name), beside_in))
        return place
