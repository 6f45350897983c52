"""Processes of one pid on two hosts or virtual machines, which one report may hold, are told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.attribution.collectives.ranks import RankChoice
from nsysan.attribution.device_communication import communication_of
from nsysan.attribution.folded_job import build_folded_job
from nsysan.attribution.folded_work import FoldedWork
from nsysan.attribution.job import build_job
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.synth.export import Export

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.trace import Trace

PID, ON_ANOTHER_HOST = 100, 100 + (1 << 32)
"""What nsys serializes behind the pid is of the host: bits 32 and up, counted from the pid's lowest."""


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """Ten steps of two processes of pid 100; the second one has two collectives a step, where the first has one."""
    export = Export()
    for count, pid in ((1, PID), (2, ON_ANOTHER_HOST)):
        for step in range(10):
            begin_ns = 100 * step
            export.nvtx(begin_ns, begin_ns + 90, f"step {step}", pid=pid, tid=PID)
            export.call(begin_ns, begin_ns + 5, "cudaLaunchKernel", pid=pid, tid=PID, correlation=step + 1)
            for start_ns in range(begin_ns + 10, begin_ns + 10 * (count + 2), 10):
                name = "gemm" if start_ns == begin_ns + 10 else "ncclDevKernel_AllReduce"
                export.kernel(start_ns, start_ns + 5, name, pid=pid, correlation=step + 1)
    return read_trace(export.write(tmp_path / "r.sqlite"), ReadOptions())


def test_each_has_an_id_and_stages_of_its_own(trace: Trace) -> None:
    """Ids are keys: with one id for both, the stages of the first were taken for those of the second, and it fell."""
    found = communication_of(build_job([trace]))

    stages = {device: None if of.stages is None else len(of.stages) for device, of in found.items()}
    assert stages == {"r0/p100/d0": 10, "r0/p100/d0#2": 20}


def test_ids_are_the_same_where_work_is_summed(trace: Trace) -> None:
    fold = FoldedWork()
    assert fold.fold_whole(trace)

    job = build_folded_job([trace], [fold.report], None, RankChoice())

    assert [device.id for device in job.devices] == ["r0/p100/d0", "r0/p100/d0#2"]
