"""Plug-ins are found, or the reason is told: a folder that cannot be listed is none without plug-ins."""

from __future__ import annotations

import errno
import os

import pytest

from nsysan.ingest import readers
from nsysan.ingest.reader import Reader
from nsysan.model.registry import discover


def out_of_memory(_folder: object = None) -> None:
    raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))


def test_a_folder_that_cannot_be_listed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "listdir", out_of_memory)
    monkeypatch.setattr(os, "scandir", out_of_memory)

    with pytest.raises(OSError, match="Cannot allocate memory"):
        discover(readers, "READER", Reader)


def test_memory_that_was_short_for_a_moment_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "listdir", out_of_memory)

    with pytest.raises(MemoryError, match=r"nsysan\.ingest\.readers"):
        discover(readers, "READER", Reader)
