"""What an archive may turn into, counted as it comes out and never as it says of itself."""

from __future__ import annotations

from typing import BinaryIO, Protocol

import msgspec

from nsysan.model.errors import InputError
from nsysan.service.settings import UnpackingLimits

_CHUNK_BYTES = 1 << 20
PACK_AGAIN = "Pack plain files anew with zip or tar, or upload them one by one."


class DangerousArchiveError(InputError):
    """The archive would write elsewhere, or more than it may: nobody should keep it."""


class Source(Protocol):
    """What can be read piece by piece."""

    def read(self, byte_count: int, /) -> bytes:
        """The next bytes, at most so many; none at the end."""
        ...


class Budget(msgspec.Struct):
    """What is left of the limits."""

    limits: UnpackingLimits
    bytes: int = 0
    entries: int = 0

    def take(self, byte_count: int) -> None:
        """Count bytes that came out. Raises DangerousArchiveError where they are too many."""
        self.bytes += byte_count
        if self.bytes > self.limits.unpacked_bytes:
            raise DangerousArchiveError(
                f"The archive unpacks to more than {self.limits.unpacked_bytes} bytes.",
                "Upload its reports one by one.",
            )

    def enter(self) -> None:
        """Count an entry. Raises DangerousArchiveError where they are too many."""
        self.entries += 1
        if self.entries > self.limits.entries:
            raise DangerousArchiveError(
                f"The archive has more than {self.limits.entries} entries.", "Upload its reports one by one."
            )


class Counted:
    """A stream that may be read only as far as the budget goes."""

    def __init__(self, stream: Source, budget: Budget) -> None:
        self._stream = stream
        self._budget = budget

    def read(self, byte_count: int = _CHUNK_BYTES) -> bytes:
        """The next bytes, which count."""
        data = self._stream.read(min(byte_count, _CHUNK_BYTES) if byte_count >= 0 else _CHUNK_BYTES)
        self._budget.take(len(data))
        return data


def copy(source: Source, target: BinaryIO) -> None:
    """Copy all of the source, a piece at a time."""
    while data := source.read(_CHUNK_BYTES):
        target.write(data)
