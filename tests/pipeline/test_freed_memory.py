"""What a process does with memory that it has freed, counted in faults of pages."""

from __future__ import annotations

import subprocess
import sys

import pytest

PAGES_OF_AN_ARRAY = 2**21 // 4096
FILLED_AGAIN_AND_AGAIN = """
import resource, numpy
from nsysan.pipeline.freed_memory import keep_freed_memory
{first}
numpy.ones(2**18)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    one, other = numpy.ones(2**18), numpy.ones(2**18)
    del one, other
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(first: str) -> int:
    """Page faults of fifty rounds with two arrays of 2 MB."""
    program = [sys.executable, "-c", FILLED_AGAIN_AND_AGAIN.format(first=first)]
    return int(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="mallopt is glibc's")
def test_pages_are_fetched_once() -> None:
    # two arrays once, with some room for whatever else happens meanwhile
    assert faults("keep_freed_memory()") < 4 * PAGES_OF_AN_ARRAY
