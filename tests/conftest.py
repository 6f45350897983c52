"""``NSYSAN_REQUIRE=browser,nsys,native,cuda`` makes skips of tests so marked failures: CI brings what they need."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from nsysan.timeline import compiled

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

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


@pytest.fixture(scope="module", params=["plain", "compiled"])
def mode(request: pytest.FixtureRequest) -> Iterator[None]:
    """Loops as they are, and as machine code however few rows there are."""
    if request.param == "compiled":
        pytest.importorskip("numba", reason="numba is not installed")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compiled, "FEWEST_ROWS", 0 if request.param == "compiled" else sys.maxsize)
        yield
