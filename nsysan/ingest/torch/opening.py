"""The bytes of a PyTorch trace, gzip-compressed or not, and how one begins."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from nsysan.model.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
RECORD_AGAIN = "Copy the file again; where that changes nothing, record again and let the profiler finish writing."

_BEGIN = re.compile(rb"\s*\{")
_FIRST_KEYS = re.compile(rb'"(?:schemaVersion|traceEvents)"\s*:')
_PACKED_NAME, _PLAIN_NAME = ".json.gz", ".trace.json"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEAD_BYTES = 4096
_FREE_BYTES = 64 << 20
_HIGHEST_RATIO = 200
"""Traces shrink to a tenth or twentieth; what expands to much more than that is made to exhaust its reader."""

ReadBytes = Callable[[int], bytes]


def begins_like_a_trace(head: bytes) -> bool:
    """Whether a file that begins so is a JSON object with the first keys of a Kineto trace, gzip-compressed or not."""
    text = _text(head)
    return _BEGIN.match(text) is not None and _FIRST_KEYS.search(text) is not None


def is_cut_before_its_keys(content: bytes, name: str) -> bool:
    """Whether a file with just this content, and the name of a trace, ends before anything tells what it is."""
    is_named_so = name.lower().endswith(_PACKED_NAME if content.startswith(GZIP_MAGIC) else _PLAIN_NAME)
    text = _text(content)
    return is_named_so and (not text or _BEGIN.match(text) is not None) and b"}" not in text


@contextmanager
def opened(path: Path, shown_name: str) -> Iterator[ReadBytes]:
    """A function that reads the next bytes of the JSON at ``path``.

    It raises InputError where the compression is damaged, cut off or a decompression bomb.
    """
    with path.open("rb") as file:
        compressed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
        file.seek(0)
        yield _decompressing(file, shown_name) if compressed else file.read


def _text(head: bytes) -> bytes:
    return (_inflated(head) if head.startswith(GZIP_MAGIC) else head).removeprefix(_BYTE_ORDER_MARK)


def _inflated(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=16 + zlib.MAX_WBITS).decompress(head, _HEAD_BYTES)
    except zlib.error:
        return b""


def _decompressing(file: BinaryIO, shown_name: str) -> ReadBytes:
    stream = gzip.GzipFile(fileobj=file)

    def read(size_bytes: int) -> bytes:
        try:
            chunk = stream.read(size_bytes)
        except (EOFError, OSError, zlib.error) as error:
            what = "cut off" if isinstance(error, EOFError) else "damaged"
            raise InputError(f"{shown_name} is {what}: its gzip data cannot be read on.", RECORD_AGAIN) from error
        if stream.tell() > max(_FREE_BYTES, file.tell() * _HIGHEST_RATIO):
            raise InputError(
                f"{shown_name} expands to over {_HIGHEST_RATIO} times its size: it is no trace.",
                "Unpack it yourself and give the JSON inside, if you trust it.",
            )
        return chunk

    return read
