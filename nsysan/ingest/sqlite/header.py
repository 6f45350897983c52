"""The first hundred bytes of an SQLite file: enough to see that its end is missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nsysan.model.errors import InputError

MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_LARGEST_PAGE_BYTES = 65_536
_COPY_AGAIN = "Copy it again, or export the report again: nsys export -t sqlite REPORT"


@dataclass(frozen=True, slots=True)
class Header:
    """How many pages of which size the file has; ``page_count`` is None where its last writer did not keep it."""

    page_bytes: int
    page_count: int | None


def check_length(path: Path, shown_name: str) -> Header:
    """The file's header. Raises InputError where the file is shorter than it says, by pages or by less.

    A header that makes no sense is left for SQLite to refuse.
    """
    size_bytes = path.stat().st_size
    with path.open("rb") as file:
        data = file.read(_HEADER_BYTES)
    if len(data) < _HEADER_BYTES:
        raise _cut_off(shown_name, f"{size_bytes} bytes are less than a header")
    header = _parse(data)
    if header.page_bytes & (header.page_bytes - 1):
        return header
    if size_bytes % header.page_bytes:
        raise _cut_off(shown_name, f"its {size_bytes} bytes end inside a page of {header.page_bytes}")
    if header.page_count is not None and size_bytes < header.page_count * header.page_bytes:
        raise _cut_off(shown_name, f"{size_bytes} of {header.page_count * header.page_bytes} bytes are there")
    return header


def _parse(data: bytes) -> Header:
    change_counter, page_count, counted_at_change = (_number(data, offset) for offset in (24, 28, 92))
    page_bytes = int.from_bytes(data[16:18], "big")
    return Header(
        page_bytes=_LARGEST_PAGE_BYTES if page_bytes <= 1 else page_bytes,
        page_count=page_count if page_count and change_counter == counted_at_change else None,
    )


def _number(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset : offset + 4], "big")


def _cut_off(shown_name: str, why: str) -> InputError:
    return InputError(f"{shown_name} is cut off: {why}.", _COPY_AGAIN)
