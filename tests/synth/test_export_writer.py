"""The writer of exports: what is given in is in the file, laid out as nsys lays it out."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from nsysan.synth.export import Export
from nsysan.synth.tables.gpu_records import SyncType
from nsysan.synth.tables.row_store import short_name_of

PROCESS_100 = (1 << 48) + 100 * 2**24
BOTH_SCHEMAS = pytest.mark.parametrize("schema", ["3.7", "3.25"])


def select(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def tables(path: Path) -> set[str]:
    names = {name for (name,) in select(path, "SELECT name FROM sqlite_master")}
    return {name for name in names if not name.startswith("ENUM_")}


@BOTH_SCHEMAS
def test_a_data_table_exists_only_if_it_has_rows(schema: str, tmp_path: Path) -> None:
    always = {
        "StringIds",
        "META_DATA_CAPTURE",
        "META_DATA_EXPORT",
        "TARGET_INFO_SESSION_START_TIME",
        "TARGET_INFO_SYSTEM_ENV",
    }
    by_activity = {
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "PROCESSES",
        "TARGET_INFO_CUDA_CONTEXT_INFO",
        "TARGET_INFO_CUDA_STREAM",
    }

    empty = Export(schema).session(duration_ns="absent").write(tmp_path / "empty.sqlite")
    one_kernel = Export(schema).kernel(0, 1, "k").write(tmp_path / "one.sqlite")

    assert tables(empty) == always
    assert tables(one_kernel) == always | by_activity | {"ANALYSIS_DETAILS"}


@BOTH_SCHEMAS
def test_each_record_is_in_the_table_of_its_kind(schema: str, tmp_path: Path) -> None:
    export = Export(schema).kernel(10, 20, "void ns::add<int>(int)").memset(30, 40, 64, stream=9)
    export.copy(50, 60, 4096, kind=10, src_memory=2, src_device=0, dst_device=1, device=1, context=2)
    export.call(1, 2, "cudaLaunchKernel_v7000", tid=101, correlation=1).overhead(3, 4, "Flush")

    path = export.write(tmp_path / "x.sqlite")

    where = "start, end, deviceId, contextId, streamId, correlationId, globalPid"
    assert select(
        path,
        f"""SELECT {where}, long.value, short.value FROM CUPTI_ACTIVITY_KIND_KERNEL
            JOIN StringIds long ON long.id = demangledName JOIN StringIds short ON short.id = shortName""",
    ) == [(10, 20, 0, 1, 7, 1, PROCESS_100, "void ns::add<int>(int)", "add")]
    assert select(path, f"SELECT {where}, bytes FROM CUPTI_ACTIVITY_KIND_MEMSET") == [
        (30, 40, 0, 1, 9, 2, PROCESS_100, 64)
    ]
    assert select(
        path,
        f"SELECT {where}, bytes, copyKind, srcKind, dstKind, srcDeviceId, dstDeviceId FROM CUPTI_ACTIVITY_KIND_MEMCPY",
    ) == [(50, 60, 1, 2, 7, 3, PROCESS_100, 4096, 10, 2, 2, 0, 1)]
    assert select(
        path,
        """SELECT start, end, eventClass, globalTid, correlationId, value FROM CUPTI_ACTIVITY_KIND_RUNTIME
           JOIN StringIds ON id = nameId""",
    ) == [(1, 2, 0, PROCESS_100 + 101, 1, "cudaLaunchKernel_v7000")]
    assert select(path, "SELECT start, end, globalTid, value FROM PROFILER_OVERHEAD JOIN StringIds ON id = nameId") == [
        (3, 4, PROCESS_100 + 100, "Flush")
    ]


def test_an_nvtx_text_is_inline_or_registered(tmp_path: Path) -> None:
    export = Export().nvtx(1, 5, "inline").nvtx(2, None, "registered", registered=True, domain=3, tid=7, event_type=60)

    path = export.nvtx_domain(3, "NCCL").write(tmp_path / "x.sqlite")

    assert select(
        path,
        """SELECT start, end, eventType, text, value, globalTid, domainId FROM NVTX_EVENTS
           LEFT JOIN StringIds ON id = textId ORDER BY start DESC""",
    ) == [
        (2, None, 60, None, "registered", PROCESS_100 + 7, 3),
        (1, 5, 59, "inline", None, PROCESS_100 + 100, 0),
        (0, None, 75, "NCCL", None, PROCESS_100 + 100, 3),
    ]


@BOTH_SCHEMAS
def test_records_of_the_host_beside_its_calls(schema: str, tmp_path: Path) -> None:
    export = Export(schema).os_call(5, 9, "poll", tid=101).switch(6, is_in=False, tid=101, cpu=3)

    path = export.switch(8, is_in=True, tid=101, cpu=3).mpi_rank(12).write(tmp_path / "x.sqlite")

    assert select(
        path, "SELECT start, end, eventClass, globalTid, value FROM OSRT_API JOIN StringIds ON id = nameId"
    ) == [(5, 9, 27, PROCESS_100 + 101, "poll")]
    assert select(path, "SELECT start, cpu, isSchedIn, globalTid FROM SCHED_EVENTS") == [
        (6, 3, 0, PROCESS_100 + 101),
        (8, 3, 1, PROCESS_100 + 101),
    ]
    assert select(path, "SELECT * FROM MPI_RANKS") == [(PROCESS_100 + 100, 12)]
    assert select(path, "SELECT count(*) FROM ThreadNames") == [(2,)]


@BOTH_SCHEMAS
def test_records_of_the_gpu_beside_its_work(schema: str, tmp_path: Path) -> None:
    export = Export(schema).cuda_event(4, stream=9, correlation=1)
    export.synchronization(3, 8, SyncType.STREAM_WAIT_EVENT, event=4, stream=7, correlation=2)
    export.synchronization(8, 9, SyncType.CONTEXT).memory(2, 64, 0x1000, correlation=5).memory(
        7, 64, 0x1000, is_freed=True
    )

    path = export.gpu_metrics(1, ["A", "B"]).gpu_sample(100, 1, {"A": 12, "B": 99}).write(tmp_path / "x.sqlite")

    where = "deviceId, contextId, streamId, correlationId, globalPid"
    assert select(path, f"SELECT {where}, eventId FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT") == [
        (0, 1, 9, 1, PROCESS_100, 4)
    ]
    assert select(path, f"SELECT start, end, {where}, syncType, eventId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION") == [
        (3, 8, 0, 1, 7, 2, PROCESS_100, 2, 4),
        (8, 9, 0, 1, 0xFFFFFFFF, 3, PROCESS_100, 4, 0xFFFFFFFF),
    ]
    assert select(
        path,
        """SELECT start, globalPid, address, bytes, memKind, memoryOperationType, correlationId
           FROM CUDA_GPU_MEMORY_USAGE_EVENTS""",
    ) == [(2, PROCESS_100, 0x1000, 64, 2, 0, 5), (7, PROCESS_100, 0x1000, 64, 2, 1, None)]
    assert select(
        path,
        """SELECT timestamp, typeId & 0xFF, metricName, value FROM GPU_METRICS
           JOIN TARGET_INFO_GPU_METRICS USING (typeId, metricId)""",
    ) == [(100, 1, "A [Throughput %]", 12), (100, 1, "B [Throughput %]", 99)]
    # the stream that a context's synchronisation lacks is none of the process
    assert select(path, "SELECT streamId FROM TARGET_INFO_CUDA_STREAM") == [(9,), (7,)]


@BOTH_SCHEMAS
def test_marks_categories_and_ranges_across_threads(schema: str, tmp_path: Path) -> None:
    export = Export(schema).nvtx_category(2, "data", domain=3).nvtx_mark(5, "epoch", category=2, domain=3)

    path = export.nvtx_range(6, 9, "load", range_id=8, tid=101, end_tid=102).write(tmp_path / "x.sqlite")

    assert select(
        path,
        """SELECT start, end, eventType, rangeId, category, text, globalTid - ?, endGlobalTid - ?, domainId
           FROM NVTX_EVENTS""".replace("?", str(PROCESS_100)),
    ) == [
        (0, None, 33, None, 2, "data", 100, None, 3),
        (5, None, 34, None, 2, "epoch", 100, None, 3),
        (6, 9, 60, 8, None, "load", 101, 102, 0),
    ]


def test_the_new_schema_has_no_samples_in_json(tmp_path: Path) -> None:
    for schema, in_json in (("3.7", True), ("3.25", False)):
        path = Export(schema).gpu_sample(1, 0, {"A": 1}).write(tmp_path / f"{schema}.sqlite")
        assert ("GENERIC_EVENTS" in tables(path)) is in_json


def test_what_only_the_new_schema_knows(tmp_path: Path) -> None:
    new = (
        Export("3.25").graph(5, 9, 12).cuda_device(device_id=1, gpu_id=3, uuid="u").overhead(1, 2, "x", overhead_type=6)
    )

    path = new.write(tmp_path / "x.sqlite")

    assert select(path, "SELECT start, end, graphId, graphExecId FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE") == [
        (5, 9, 12, 12)
    ]
    assert select(path, "SELECT * FROM TARGET_INFO_CUDA_DEVICE") == [(3, 1, 100, "u", 132)]
    assert select(path, "SELECT overheadType FROM PROFILER_OVERHEAD") == [(6,)]
    for refused in (Export("3.7").graph, Export("3.7").cuda_device):
        with pytest.raises(ValueError, match=r"schema 3\.7 has no table"):
            refused(*((1, 2) if refused.__name__ == "graph" else ()))


def test_correlations_count_up_per_process_from_the_largest_used(tmp_path: Path) -> None:
    export = Export().kernel(0, 1, "a").kernel(1, 2, "b", correlation=9).kernel(2, 3, "c").kernel(3, 4, "d", pid=200)

    path = export.write(tmp_path / "x.sqlite")

    assert select(path, "SELECT start, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start") == [
        (0, 1),
        (1, 9),
        (2, 10),
        (3, 1),
    ]


def test_the_session(tmp_path: Path) -> None:
    stated = Export().session(utc_epoch_ns=1_000_000_000_000_000_000, duration_ns=77).host("node7")
    path = stated.environment("TOKEN", "secret").write(tmp_path / "stated.sqlite")

    assert select(path, "SELECT duration, startTime, stopTime FROM ANALYSIS_DETAILS") == [(77, 0, 77)]
    assert select(path, "SELECT utcEpochNs, utcTime FROM TARGET_INFO_SESSION_START_TIME") == [
        (1_000_000_000_000_000_000, "2001-09-09T01:46:40")
    ]
    assert select(path, "SELECT name, value FROM TARGET_INFO_SYSTEM_ENV") == [("Hostname", "node7")]
    assert select(path, "SELECT value FROM META_DATA_CAPTURE WHERE name LIKE '%ENVIRONMENT%'") == [('TOKEN="secret"',)]

    implied = Export().kernel(5, 2_000, "k").call(1, 3_000, "c").write(tmp_path / "implied.sqlite")
    assert select(implied, "SELECT duration FROM ANALYSIS_DETAILS") == [(1_003_000,)]


def test_statements_run_on_the_finished_file(tmp_path: Path) -> None:
    export = Export().kernel(5, 9, "k").sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 4").sql("DROP TABLE PROCESSES")

    path = export.write(tmp_path / "x.sqlite")

    assert select(path, "SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL") == [(5, 4)]
    assert "PROCESSES" not in tables(path)


def test_shuffling_changes_the_order_of_the_rows_and_nothing_else(tmp_path: Path) -> None:
    export = Export()
    for start in range(20):
        export.kernel(start, start + 1, "k")

    plain, shuffled, again = (
        export.write(tmp_path / f"{seed}-{copy}.sqlite", shuffle_seed=seed)
        for seed, copy in ((None, 1), (3, 1), (3, 2))
    )

    query = "SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL"
    assert select(plain, query) == [(start,) for start in range(20)]
    assert select(shuffled, query) != select(plain, query)
    assert sorted(select(shuffled, query)) == select(plain, query)
    assert shuffled.read_bytes() == again.read_bytes()


def test_an_unknown_schema_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown schema '4\.0'; known are 3\.7, 3\.25"):
        Export("4.0")


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("void at::native::vectorized_elementwise_kernel<(int)4, F>(int, T2)", "vectorized_elementwise_kernel"),
        ("void at::native::<unnamed>::layer_norm<float>(int)", "layer_norm"),
        ("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN"),
        ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", "ncclDevKernel_SendRecv"),
        ("", ""),
    ],
)
def test_short_names_are_what_nsys_makes_of_demangled_ones(name: str, short: str) -> None:
    assert short_name_of(name) == short
