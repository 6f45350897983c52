"""What a process does with memory that it has freed, counted in faults of pages."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from types import SimpleNamespace

import pytest

from nsysan.pipeline.freed_memory import keep_freed_memory

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


@pytest.mark.skipif(sys.platform != "linux", reason="mallopt is glibc's")
@pytest.mark.parametrize(("most_bytes", "taken"), [(2**25, {-3: 2**25, -1: 2**28}), (2**20, {})])
def test_a_c_library_that_takes_less_is_asked_for_less(
    monkeypatch: pytest.MonkeyPatch, most_bytes: int, taken: dict[int, int]
) -> None:
    # as malloc.c of older glibc does: a threshold of mmap beyond HEAP_MAX_SIZE / 2 is refused
    found: dict[int, int] = {}

    def mallopt(option: int, value: int) -> int:
        is_taken = option != -3 or value <= most_bytes
        found.update({option: value} if is_taken else {})
        return int(is_taken)

    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(mallopt=mallopt))
    keep_freed_memory()
    assert found == taken
