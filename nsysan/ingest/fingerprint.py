"""Which content was read, told apart by size and hashes."""

from __future__ import annotations

import hashlib
from pathlib import Path

from nsysan.model.trace import Fingerprint

_MEBIBYTE = 1 << 20


def fingerprint_of(path: Path, *, hash_content: bool) -> Fingerprint:
    """The size of the file, the SHA-256 of its first and last MiB (of all of it below 2 MiB), and of all if asked."""
    with path.open("rb") as file:
        size_bytes = file.seek(0, 2)
        file.seek(0)
        head_tail = hashlib.sha256(file.read(_MEBIBYTE))
        file.seek(max(size_bytes - _MEBIBYTE, min(_MEBIBYTE, size_bytes)))
        head_tail.update(file.read(_MEBIBYTE))
    return Fingerprint(size_bytes, head_tail.hexdigest(), _sha256_of(path) if hash_content else None)


def _sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_MEBIBYTE):
            digest.update(chunk)
    return digest.hexdigest()
