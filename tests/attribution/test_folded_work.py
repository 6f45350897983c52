"""Work that is taken up slice by slice gives what the whole of it gives."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from nsysan.analysis.gpu_time import compute_gpu_time
from nsysan.analysis.idle_gaps import compute_idle_gaps
from nsysan.analysis.kernel_summary import compute_kernel_summary
from nsysan.attribution import arranged_work, duration_groups, folded_work, kernel_durations
from nsysan.attribution.activities import collect_activities
from nsysan.attribution.arranged_work import arrange_activities
from nsysan.attribution.collectives.ranks import RankChoice
from nsysan.attribution.folded_job import build_folded_job
from nsysan.attribution.folded_work import FoldedWork
from nsysan.attribution.job import Job, build_job
from nsysan.attribution.kernel_class import classify
from nsysan.model.profilers import Profiler
from nsysan.model.results import ResultSet
from nsysan.model.tables import Copies, Kernels, Memsets
from nsysan.model.trace import CaptureIdentity, CudaDevice, Fingerprint, PhysicalGpu, Trace
from nsysan.timeline import running_sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nsysan.attribution.activities import DeviceActivities
    from nsysan.model.arrays import Int64Array

NAMES = {1: "gemm", 2: "ncclDevKernel_AllReduce", 3: "nvshmem_fused_gemm_all_reduce", 4: "gemm"}
TIMES = st.integers(-3, 30)
RECORDS = st.lists(
    st.tuples(TIMES, st.integers(-1, 6), st.integers(1, 3), st.integers(0, 1), st.sampled_from([1, 2, 3, 4]))
)
Record = tuple[int, int, int, int, int]
Columns = tuple["Int64Array", "Int64Array", "Int64Array", "Int64Array", "Int64Array", "Int64Array", "Int64Array"]


def trace_of(kernels: list[Record], copies: list[Record], memsets: list[Record]) -> Trace:
    """Processes 1 and 2 see one GPU as device 0, and another one as device 1; nothing is known of what 3 sees."""
    seen = tuple(CudaDevice(pid, device, device, f"GPU-{device}", 132) for pid in (1, 2) for device in (0, 1))
    gpus = tuple(PhysicalGpu(device, "H100", f"GPU-{device}", None, 132, None, None) for device in (0, 1))
    return Trace(
        name="a.sqlite",
        reader="test",
        profiler=Profiler.NSYS,
        fingerprint=Fingerprint(0, "", None),
        identity=CaptureIdentity("host", None, None, ""),
        nsys_version=None,
        export_schema=None,
        capture_ns=40,
        session_start_utc_ns=None,
        gpus=gpus,
        cuda_devices=seen,
        strings=NAMES,
        kernels=Kernels(*columns(kernels), np.array([record[4] for record in kernels], np.int64)),
        copies=Copies(*columns(copies), *[np.ones(len(copies), np.int64) for _ in range(6)]),
        memsets=Memsets(*columns(memsets), np.ones(len(memsets), np.int64)),
        graph_launches=None,
        nvtx_ranges=None,
        nvtx_domains={},
        unreadable_records={},
    )


def columns(records: list[Record]) -> Columns:
    start_ns, length_ns, pid, device, _ = np.array(records, np.int64).reshape(-1, 5).T
    return start_ns, start_ns + length_ns, pid << 24, device, device, device, device


def slices(trace: Trace, cuts: list[int]) -> Iterator[Trace]:
    """The trace cut at these times; what has no time that can be is in the last slice."""
    bounds = [-100, *sorted(cuts), 100]
    for first, last in pairwise(bounds):
        tables: dict[str, Any] = {}
        for name, table in trace.gpu_tables().items():
            start_ns, end_ns = table.start_ns, table.end_ns
            timed = (end_ns >= start_ns) & ~((start_ns == 0) & (end_ns == 0)) & ~((end_ns <= 0) & (start_ns < 0))
            begins = np.maximum(start_ns, 0)
            inside = (begins >= first) & (begins < last) & timed
            tables[name] = table.take(np.flatnonzero(inside | (~timed & (last == bounds[-1]))))
        yield replace(trace, **tables)


def told(job: Job) -> list[object]:
    nothing = ResultSet({})
    return [
        job.notes,
        compute_gpu_time(job, nothing),
        compute_idle_gaps(job, nothing),
        compute_kernel_summary(job, nothing),
        job.collectives.has_operations,
    ]


@pytest.fixture(scope="module", params=["columns", "loops", "machine code"])
def _way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whole columns, loops as they are, and loops as machine code, however few records there are."""
    if request.param == "machine code":
        pytest.importorskip("numba", reason="numba is not installed")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(folded_work, "is_worth_compiling", lambda _count, _fewest: request.param != "columns")
        if request.param == "loops":
            for module in (arranged_work, duration_groups, kernel_durations, running_sweep):
                patched.setattr(module, "compiled", lambda loop: loop)
        yield


@pytest.mark.usefixtures("_way")
@settings(max_examples=300, deadline=None)
@given(RECORDS, RECORDS, RECORDS, st.lists(st.integers(1, 30), max_size=8))
def test_slices_give_what_the_whole_gives(
    kernels: list[Record], copies: list[Record], memsets: list[Record], cuts: list[int]
) -> None:
    trace, fold = trace_of(kernels, copies, memsets), FoldedWork()
    whole = build_job([trace])

    # where rows repeat each other, what the fold did not see of them has to be compared as well
    repeats = any(note.id == "repeated_records" for note in whole.notes)
    assert fold.fold(slices(trace, cuts), None) == (bool(whole.gpus) and not repeats)
    if fold.report is not None:
        for report in (fold.report, fold.report.counted()):
            assert told(build_folded_job([trace], [report], None, RankChoice())) == told(whole)


SOUND = st.lists(
    st.tuples(
        *(st.integers(1, 12), st.integers(0, 6), st.integers(1, 3)),
        *(st.integers(0, 1), st.sampled_from([1, 2, 3, 4])),
    ),
    max_size=40,
)


@pytest.mark.usefixtures("_way")
@settings(deadline=None)
@given(SOUND, SOUND, SOUND)
def test_records_are_arranged_as_they_are_collected(
    kernels: list[Record], copies: list[Record], memsets: list[Record]
) -> None:
    trace = trace_of(kernels, copies, memsets)
    kinds = np.array([int(classify(NAMES[record[4]]).activity) for record in kernels], np.uint8)

    assert listed(arrange_activities(trace, kinds)) == listed(collect_activities(trace, 0))


def test_records_of_too_many_devices_are_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arranged_work, "_MOST_OWNERS", 2)
    monkeypatch.setattr(arranged_work, "compiled", lambda loop: loop)
    trace = trace_of([(1, 2, pid, 0, 1) for pid in (1, 2, 3)], [], [])

    found = arrange_activities(trace, np.ones(3, np.uint8))

    assert [work.global_pid >> 24 for work in found] == [1, 2, 3]


def listed(works: list[DeviceActivities]) -> list[object]:
    return [
        [work.global_pid, work.device_id, work.fault_counts.tolist(), *map(list, work.activities.columns().values())]
        for work in works
    ]
