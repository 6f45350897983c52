"""Host records with impossible times, of every kind: they are left out and said, and the causes still add up."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.analysis.registry import analyses
from nsysan.attribution.job import build_job
from nsysan.attribution.window import WindowChoice
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.results import ResultSet
from tests.attribution.idle_traces import GLOBAL_PID, LAUNCH, US, Trace

DAY_NS = 86_400 * 10**9


def test_what_cannot_be_is_left_out_and_said(tmp_path: Path) -> None:
    trace = Trace()
    trace.call(500, 400, LAUNCH, correlation=8).call(0, 2**62, "cudaDeviceSynchronize_v3020")
    trace.nvtx(-(2**62), 5, "load_batch").nvtx(0, 11 * DAY_NS, "load_batch")
    trace.launch(1_090, 1_100, runs=(1_101, 1_200))

    job = build_job([read_trace(trace.write(tmp_path / "rank0.sqlite"), ReadOptions())])

    assert [note.sentence for note in job.notes if note.id == "damaged_host_records"] == [
        "Left out for impossible times: 2 records of runtime calls in rank0.sqlite.",
        "Left out for impossible times: 2 records of nvtx ranges in rank0.sqlite.",
    ]
    idle = job.idle.of_gpu(job.gpus[0])
    assert idle is not None
    assert (idle.causes().launch_starved_ns, idle.causes().launch_latency_ns) == (990 * US, 11 * US)


def test_a_range_with_impossible_times_bounds_no_window(tmp_path: Path) -> None:
    trace = Trace().range(20, 50, "step")
    trace.nvtx(60 * US, 11 * DAY_NS, "step")

    job = build_job(
        [read_trace(trace.write(tmp_path / "rank0.sqlite"), ReadOptions())], WindowChoice(nvtx_range="step")
    )

    assert job.gpus[0].window_ns == (20 * US, 50 * US)


WILD = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-2_000_000, 2_000_000),
    st.sampled_from([0, 1, GLOBAL_PID | 100]),
)
NAMES = st.sampled_from(
    [LAUNCH, "cudaFree_v3020", "cuModuleLoadData", "cudaMemcpy_v3020", "step 1", "load_batch", "poll"]
)
COLUMNS = {
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start end globalTid correlationId eventClass",
    "NVTX_EVENTS": "start end globalTid endGlobalTid domainId",
    "PROFILER_OVERHEAD": "start end globalTid overheadType overheadType",
    "OSRT_API": "start end globalTid globalTid globalTid",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start end deviceId streamId correlationId",
}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(COLUMNS)), NAMES, *[WILD] * 5), max_size=12))
def test_no_value_in_any_column_upsets_an_analysis(
    drawn: list[tuple[str, str, object, object, object, object, object]],
) -> None:
    trace = Trace().launch(1_090, 1_100, runs=(1_101, 1_200)).launch(2_000, 2_010, runs=(2_020, 2_030))
    trace.range(0, 1_000, "step 0").range(1_050, 2_100, "step 1").overhead(0, 1, "CUPTI Buffer flush")
    for place, (table, name, *values) in enumerate(drawn):
        row = dict(zip(COLUMNS[table].split(), values, strict=True))
        if table == "CUPTI_ACTIVITY_KIND_KERNEL":
            trace.kernel(3_000 * US + place, 3_000 * US + place, "damaged")
        elif table == "NVTX_EVENTS":
            trace.nvtx(place, place, name)
        elif table == "PROFILER_OVERHEAD":
            trace.overhead(place, place, name)
        elif table == "OSRT_API":
            trace.os_call(place, place, name)
        else:
            trace.call(place, place, name)
        damaged = ", ".join(f'"{column}" = {"NULL" if value is None else value}' for column, value in row.items())
        # a column that may not be NULL keeps what it had
        trace.sql(f"UPDATE OR IGNORE {table} SET {damaged} WHERE rowid = (SELECT max(rowid) FROM {table})")
    with tempfile.TemporaryDirectory() as folder:
        job = build_job([read_trace(trace.write(Path(folder) / "rank0.sqlite"), ReadOptions())])

    results = ResultSet({})
    for analysis in analyses():
        results = results.with_result(analysis.id, analysis.compute(job, results))
    for device in job.devices:
        idle = job.idle.of_device(device)
        assert idle is not None
        assert idle.causes().idle_ns == device.occupancy.part_times().idle_ns
