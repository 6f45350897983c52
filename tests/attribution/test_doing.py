"""What a thread was in over a stretch of time: from 0 to 100 in every test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.attribution.host import Host
from nsysan.attribution.idle.doing import Doing, doing_over
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.synth.export import Export
from tests.attribution.idle_traces import GLOBAL_PID, PID

if TYPE_CHECKING:
    from pathlib import Path


def doing(folder: Path, export: Export) -> Doing | None:
    trace = read_trace(export.write(folder / "rank0.sqlite"), ReadOptions())
    return doing_over(HostThreads(Host(trace)), GLOBAL_PID | PID, 0, 100)


def test_calls_come_before_calls_of_the_system_and_these_before_ranges(tmp_path: Path) -> None:
    export = Export().nvtx(0, 100, "forward")
    assert doing(tmp_path, export) == Doing("forward", 100)
    assert doing(tmp_path, export.os_call(0, 60, "poll")) == Doing("poll", 60)
    assert doing(tmp_path, export.call(0, 50, "cudaMalloc")) == Doing("cudaMalloc", 50)


def test_what_held_for_less_than_half_is_not_named(tmp_path: Path) -> None:
    export = Export().call(-10, 49, "cudaMalloc").os_call(60, 109, "poll").nvtx(-5, 49, "forward").nvtx(49, 98, "loss")

    assert doing(tmp_path, export) is None


def test_calls_of_one_name_count_together_and_the_outermost_only(tmp_path: Path) -> None:
    # the runtime's call around the driver's, and another thread's
    export = Export().call(0, 30, "cudaMalloc").call(1, 29, "cuMemAlloc_v2").call(60, 90, "cudaMalloc")
    export.call(0, 100, "cudaFree", tid=7)

    assert doing(tmp_path, export) == Doing("cudaMalloc", 60)


def test_the_innermost_range_that_held_for_half_is_named(tmp_path: Path) -> None:
    export = Export().nvtx(-50, 200, "step 1").nvtx(20, 99, "forward").nvtx(20, 99, "layer").nvtx(30, 60, "mlp")

    assert doing(tmp_path, export) == Doing("layer", 79)
