"""Real exports by seven releases of nsys, from 2022.2 to 2026.2, are read whole."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.ingest.reading import read

TRACES = Path(__file__).parents[3] / "shared" / "traces"
EXPORTS = sorted(TRACES.glob("*.sqlite"))

pytestmark = pytest.mark.skipif(not EXPORTS, reason="the shared real exports are not beside this checkout")

EXPORTERS = {
    "2022.2.1.31",
    "2023.4.4.54",
    "2024.5.1.113",
    "2024.6.2.25",
    "2025.6.1.190",
    "2026.1.1.204",
    "2026.2.1.210",
}
TABLES = {
    "kernels": ("CUPTI_ACTIVITY_KIND_KERNEL", "TRUE"),
    "copies": ("CUPTI_ACTIVITY_KIND_MEMCPY", "TRUE"),
    "memsets": ("CUPTI_ACTIVITY_KIND_MEMSET", "TRUE"),
    "nvtx_ranges": ("NVTX_EVENTS", "eventType IN (59, 60, 70, 71)"),
}


def row_count(export: Path, table: str, condition: str) -> int | None:
    with closing(sqlite3.connect(f"{export.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            return None
        (count,) = connection.execute(f"SELECT count(*) FROM {table} WHERE {condition}").fetchone()
        return int(count)


@pytest.mark.parametrize("export", EXPORTS, ids=lambda path: path.stem)
def test_every_row_becomes_a_record_with_a_name(export: Path) -> None:
    trace = read(export)

    found = {name: None if (table := getattr(trace, name)) is None else len(table) for name in TABLES}
    assert found == {name: row_count(export, *table) for name, table in TABLES.items()}
    assert trace.unreadable_records == {}
    assert trace.nsys_version in EXPORTERS
    for table in (trace.kernels, trace.nvtx_ranges):
        assert table is None or all(name_id in trace.strings for name_id in table.name_id.tolist())
