"""What the tests of the service share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.heart import Heart, heart_in


@pytest.fixture
def heart(tmp_path: Path) -> Iterator[Heart]:
    """What keeps things, around a folder of its own."""
    made = heart_in(tmp_path / "data")
    yield made
    made.ledger.close()
