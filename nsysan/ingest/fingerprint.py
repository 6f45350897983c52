"""Which content was read, told apart by size and hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from nsysan.model.trace import Fingerprint

_MEBIBYTE = 1 << 20


def fingerprint_of(path: Path, *, hash_content: bool) -> Fingerprint:
    """The size of the file, the SHA-256 of its first and last MiB (of all of it below 2 MiB), and of all if asked.

    Of a folder: the size of its files together, and the SHA-256 of their names and of the same hash of each.
    """
    if path.is_dir():
        return _fingerprint_of_folder(path, hash_content=hash_content)
    whole = sha256_of(path) if hash_content else None
    return Fingerprint(path.stat().st_size, _head_tail_sha256(path), whole)


def sha256_of(path: Path) -> str:
    """The SHA-256 of all of the file, in hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_MEBIBYTE):
            digest.update(chunk)
    return digest.hexdigest()


def _fingerprint_of_folder(folder: Path, *, hash_content: bool) -> Fingerprint:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    whole = _joint_sha256(files, sha256_of) if hash_content else None
    return Fingerprint(sum(file.stat().st_size for file in files), _joint_sha256(files, _head_tail_sha256), whole)


def _joint_sha256(files: list[Path], hash_of: Callable[[Path], str]) -> str:
    # a name cannot hold a zero byte, so that no two folders give the same text
    listing = "".join(f"{file.name}\0{hash_of(file)}\0" for file in files)
    return hashlib.sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()


def _head_tail_sha256(path: Path) -> str:
    with path.open("rb") as file:
        size_bytes = file.seek(0, 2)
        file.seek(0)
        head_tail = hashlib.sha256(file.read(_MEBIBYTE))
        file.seek(max(size_bytes - _MEBIBYTE, min(_MEBIBYTE, size_bytes)))
        head_tail.update(file.read(_MEBIBYTE))
    return head_tail.hexdigest()
