"""What holds for every reader."""

from __future__ import annotations

import gzip
import importlib
import pkgutil
from pathlib import Path

from nsysan.ingest import readers
from nsysan.ingest.nsys import report
from nsysan.ingest.reader import Candidate, Reader
from nsysan.ingest.sqlite import header
from nsysan.model.registry import discover

READERS = discover(readers, "READER", Reader)


def test_every_module_declares_a_reader_named_after_it() -> None:
    modules = [module.name for module in pkgutil.iter_modules(readers.__path__)]

    assert [reader.id for reader in READERS] == modules
    assert all(importlib.import_module(f"nsysan.ingest.readers.{module}").__doc__ for module in modules)


def test_no_input_is_recognised_by_two_readers() -> None:
    torch = b'{\n  "schemaVersion": 1,\n  "deviceProperties": ['
    known = {header.MAGIC, report.MAGIC, torch, gzip.compress(torch)}
    for head in (*known, b"", b"text", b"{}", b'{"schema_version": 1}', gzip.compress(b"text"), gzip.compress(b"")):
        candidate = Candidate(Path("rank0.sqlite"), is_folder=False, size_bytes=len(head), head=head)
        assert sum(reader.recognise(candidate) for reader in READERS) == (head in known), head
