"""The first hundred bytes of an SQLite file: enough to see that its end is missing."""

from __future__ import annotations

from pathlib import Path

from nsysan.model.errors import InputError

MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_LARGEST_PAGE_BYTES = 65_536
_COPY_AGAIN = "Copy it again, or export the report again: nsys export -t sqlite REPORT"


def check_length(path: Path, shown_name: str) -> None:
    """Raise InputError where the file is shorter than its header says, by pages or by less.

    An old writer leaves no count of pages: the last page must be whole then. A header that makes no sense is left for
    SQLite to refuse.
    """
    size_bytes = path.stat().st_size
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES:
        raise _cut_off(shown_name, size_bytes, _HEADER_BYTES)
    page_bytes = _number(header, 16, 18)
    page_bytes = _LARGEST_PAGE_BYTES if page_bytes == 1 else page_bytes
    if page_bytes == 0 or page_bytes & (page_bytes - 1):
        return
    whole_bytes = (_page_count(header) or -(-size_bytes // page_bytes)) * page_bytes
    if size_bytes < whole_bytes:
        raise _cut_off(shown_name, size_bytes, whole_bytes)


def _page_count(header: bytes) -> int | None:
    """How many pages there should be, or None where the last writer did not count them."""
    change_counter, page_count, counted_at_change = (_number(header, at, at + 4) for at in (24, 28, 92))
    return page_count if change_counter == counted_at_change else None


def _number(header: bytes, begin: int, end: int) -> int:
    return int.from_bytes(header[begin:end], "big")


def _cut_off(shown_name: str, size_bytes: int, whole_bytes: int) -> InputError:
    return InputError(f"{shown_name} is cut off: {size_bytes:,} of {whole_bytes:,} bytes are there.", _COPY_AGAIN)
