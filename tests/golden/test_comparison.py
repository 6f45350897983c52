"""What ``compare`` writes as JSON and text, word for word. NSYSAN_UPDATE_GOLDEN=1 (make golden) writes it anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nsysan import __version__
from nsysan.report.comparison.document import encode_comparison
from nsysan.report.comparison.text import render_text
from tests.report.comparisons import full_comparison

FOLDER = Path(__file__).parent


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("comparison.json", encode_comparison(full_comparison())),
        ("comparison.txt", render_text(full_comparison()).encode()),
    ],
)
def test_what_compare_writes_is_the_golden_one(name: str, data: bytes) -> None:
    data, path = (
        data.replace(f'"{__version__}"'.encode(), b'"0"').replace(f" {__version__}.".encode(), b" 0."),
        FOLDER / name,
    )
    if os.environ.get("NSYSAN_UPDATE_GOLDEN"):
        path.write_bytes(data)

    assert path.read_bytes() == data
