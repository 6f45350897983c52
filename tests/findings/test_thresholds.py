"""The thresholds are in one place, and the documentation has the same."""

import re
from pathlib import Path

from nsysan.findings import thresholds

DOCUMENT = Path(__file__).parents[2] / "docs/diagnosis.md"


def test_every_threshold_is_documented_with_its_value() -> None:
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \| ([\d.]+)", DOCUMENT.read_text(), re.MULTILINE))

    assert {name: float(value) for name, value in rows.items()} == {
        name: float(value) for name, value in vars(thresholds).items() if name.isupper()
    }
