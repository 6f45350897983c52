"""Which content was read: size, the hash of its ends, and of all of it where asked for."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from nsysan.ingest.fingerprint import fingerprint_of
from nsysan.model.trace import Fingerprint

if TYPE_CHECKING:
    from pathlib import Path

MEBIBYTE = 1 << 20


def content_of(size_bytes: int) -> bytes:
    return (bytes(range(251)) * (size_bytes // 251 + 1))[:size_bytes]


@pytest.mark.parametrize("size_bytes", [1, MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 1, 2 * MEBIBYTE - 1])
def test_below_two_mebibytes_all_of_it_is_hashed(tmp_path: Path, size_bytes: int) -> None:
    path = tmp_path / "rank0.sqlite"
    path.write_bytes(content_of(size_bytes))
    digest = hashlib.sha256(content_of(size_bytes)).hexdigest()

    assert fingerprint_of(path, hash_content=False) == Fingerprint(size_bytes, digest, None)
    assert fingerprint_of(path, hash_content=True) == Fingerprint(size_bytes, digest, digest)


def test_from_two_mebibytes_its_first_and_last(tmp_path: Path) -> None:
    content = content_of(2 * MEBIBYTE) + b"middle" + content_of(MEBIBYTE)
    path = tmp_path / "rank0.sqlite"
    path.write_bytes(content)
    ends = hashlib.sha256(content[:MEBIBYTE] + content[-MEBIBYTE:]).hexdigest()

    found = fingerprint_of(path, hash_content=True)

    assert found == Fingerprint(len(content), ends, hashlib.sha256(content).hexdigest())
