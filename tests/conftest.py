"""``NSYSAN_REQUIRE=browser,nsys,native,cuda`` makes skips of tests so marked failures: CI brings what they need."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Generator

# no test counts on how fast the machine is
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

REQUIRED_MARKERS = frozenset(filter(None, os.environ.get("NSYSAN_REQUIRE", "").split(",")))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of a test phase, failed where it was skipped although what it needs was promised."""
    report = yield
    promised = REQUIRED_MARKERS & {marker.name for marker in item.iter_markers()}
    if report.skipped and promised and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but NSYSAN_REQUIRE names {', '.join(sorted(promised))}: {report.longrepr}"
    return report
