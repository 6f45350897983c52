"""Folders and reports for the tests of reading."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nsysan.ingest import readers
from nsysan.ingest.reader import Reader
from nsysan.model.registry import discover

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can look into, unlike ``tmp_path``."""
    # as another user, modules can no longer be imported from where they lie
    discover(readers, "READER", Reader)
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
