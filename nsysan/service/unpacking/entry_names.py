"""Names inside archives: which are refused, which are reports, and under what names of ours they are put down."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from nsysan.model.text import display_text
from nsysan.pipeline.inputs import REPORT_SUFFIXES, TORCH_SUFFIXES
from nsysan.service.names import file_name
from nsysan.service.unpacking.budget import PACK_AGAIN, DangerousArchiveError

_TABLE = re.compile(r"[A-Za-z0-9_]{1,100}\.(?:parquet|arrow)")
_TABLE_FOLDER = re.compile(r"_(?:pqt|arw)dir")
_NAME_BYTES = 12
_DRIVE = re.compile(r"[A-Za-z]:")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A report, or a folder of a report's tables, under a name of ours; ``name`` is what people call it."""

    path: Path
    name: str


def checked(name: str) -> tuple[str, ...]:
    """The parts of an entry's name.

    Raises DangerousArchiveError where it is absolute, leaves its folder, names a device or hides a zero byte.
    """
    parts = tuple(part for part in re.split(r"[/\\]", name) if part not in ("", "."))
    leads_away = name.startswith(("/", "\\")) or _DRIVE.match(name) or ".." in parts
    if leads_away or "\0" in name or any(_DEVICE.fullmatch(part) for part in parts):
        raise DangerousArchiveError(f"The archive's entry {display_text(name)!r} would lie outside of it.", PACK_AGAIN)
    return parts


def random_name() -> str:
    """A name of ours that stands in no text by chance."""
    return f"report-{secrets.token_hex(_NAME_BYTES)}"


class Places:
    """Gives each entry that is a report, or a table of one, its place in the folder; all others have none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._table_folders: dict[tuple[str, ...], Path] = {}
        self.reports: list[Unpacked] = []

    def of(self, parts: tuple[str, ...]) -> Path | None:
        """Where to put the entry; None where it is nothing to read."""
        if not parts or parts[-1].startswith("._"):
            return None
        if len(parts) > 1 and _TABLE_FOLDER.search(parts[-2]) and _TABLE.fullmatch(parts[-1]):
            return self._table_folder(parts[:-1]) / parts[-1]
        if parts[-1].lower().endswith((*REPORT_SUFFIXES, *TORCH_SUFFIXES)):
            return self._next(parts[-1])
        return None

    def _table_folder(self, parts: tuple[str, ...]) -> Path:
        known = self._table_folders.get(parts)
        if known is None:
            known = self._table_folders[parts] = self._next(parts[-1])
            known.mkdir(mode=0o700)
        return known

    def _next(self, name: str) -> Path:
        place = self._folder / random_name()
        self.reports.append(Unpacked(place, file_name(name)))
        return place
