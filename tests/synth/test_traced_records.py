"""What ``--trace`` adds to the files is what the simulation did, and what the truth says of it."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from nsysan.model.errors import UsageError
from nsysan.synth.files import write
from nsysan.synth.generate import Generated, generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import find_scenario
from nsysan.synth.trace_kind import USUAL_KINDS, TraceKind, parse_kinds
from nsysan.synth.truth.job_truth import RankTruth, SystemTruth, Truth

EVERYTHING = frozenset(TraceKind)
TABLES = {
    TraceKind.OSRT: {"OSRT_API"},
    TraceKind.SCHED: {"SCHED_EVENTS", "ENUM_SAMPLING_THREAD_STATE"},
    TraceKind.MEMORY: {"CUDA_GPU_MEMORY_USAGE_EVENTS", "ENUM_CUDA_DEV_MEM_EVENT_OPER"},
    TraceKind.SYNC: {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "CUPTI_ACTIVITY_KIND_CUDA_EVENT", "ENUM_CUPTI_SYNC_TYPE"},
    TraceKind.METRICS: {"GPU_METRICS", "TARGET_INFO_GPU_METRICS"},
    TraceKind.MPI: {"MPI_RANKS"},
}


def job(kinds: frozenset[TraceKind], **options: Any) -> Generated:
    given: dict[str, Any] = {"scenario": find_scenario("allocator"), "rank_count": 2, "step_count": 2} | options
    return generate(Request(kinds=kinds, **given))


@dataclass(frozen=True)
class Written:
    folder: Path
    truth: Truth

    def path_of(self, rank: RankTruth) -> Path:
        return self.folder / rank.file


@pytest.fixture(scope="module", params=product(["3.7", "3.25"], Layout), ids=lambda form: f"{form[0]}-{form[1].value}")
def everything(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Two recordings in a row with all there is, on clocks that err where each rank has a file."""
    schema, layout = request.param
    clock = {"clock_error_ns": 1_000_000} if layout is Layout.PER_RANK else {}
    generated = job(EVERYTHING, schema=schema, layout=layout, recording_count=2, **clock)
    folder = tmp_path_factory.mktemp("everything")
    write(generated, folder)
    return Written(folder, generated.truth)


def select(path: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query, values).fetchall()


def tables(path: Path) -> set[str]:
    return {name for (name,) in select(path, "SELECT name FROM sqlite_master")}


def system_of(rank: RankTruth) -> SystemTruth:
    assert rank.system is not None
    return rank.system


def thread_of(rank: RankTruth) -> int:
    return (1 << 48) | (rank.pid << 24) | rank.pid


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("schema", ["3.7", "3.25"])
def test_each_kind_adds_its_tables_and_changes_no_other(schema: str, kind: TraceKind, tmp_path: Path) -> None:
    [usual, _] = write(job(USUAL_KINDS, schema=schema), tmp_path / "usual")
    [more, _] = write(job(USUAL_KINDS | {kind}, schema=schema), tmp_path / "more")

    old_json = {"GENERIC_EVENTS"} if (kind, schema) == (TraceKind.METRICS, "3.7") else set()
    assert tables(more) - tables(usual) == TABLES[kind] | old_json
    for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"):
        assert select(more, f"SELECT * FROM {table}") == select(usual, f"SELECT * FROM {table}")


def test_without_nvtx_there_are_no_ranges_and_the_truth_is_the_same(tmp_path: Path) -> None:
    bare = job(frozenset({TraceKind.CUDA}))

    [path, _] = write(bare, tmp_path)

    assert "NVTX_EVENTS" not in tables(path)
    assert select(path, "SELECT * FROM META_DATA_CAPTURE") == [("CAPTURE_EVENT_TYPE", "Cuda")]
    assert bare.truth == job(USUAL_KINDS).truth


def test_the_capture_says_what_was_asked_for(tmp_path: Path) -> None:
    [path, _] = write(job(EVERYTHING), tmp_path)

    assert select(path, "SELECT * FROM META_DATA_CAPTURE") == [
        ("CAPTURE_EVENT_TYPE", "OSRuntime"),
        ("CAPTURE_EVENT_TYPE", "NvtxEvents"),
        ("CAPTURE_EVENT_TYPE", "Cuda"),
        ("COLLECT_GPU_MEMORY_USAGE", "true"),
    ]


def test_the_truth_has_a_part_for_each_kind_that_was_asked_for() -> None:
    for kinds, parts in (
        (USUAL_KINDS | {TraceKind.SCHED}, (True, False, False)),
        (USUAL_KINDS | {TraceKind.MEMORY}, (False, True, False)),
        (USUAL_KINDS | {TraceKind.METRICS}, (False, False, True)),
    ):
        for rank in job(kinds).truth.ranks:
            system = system_of(rank)
            found = (system.host, system.memory, system.counter_mean_percents)
            assert tuple(part is not None for part in found) == parts


def test_os_calls_and_the_time_off_the_cpu_are_those_of_the_truth(everything: Written) -> None:
    for rank in everything.truth.ranks:
        path, thread, host = everything.path_of(rank), thread_of(rank), system_of(rank).host
        assert host is not None
        [os_calls] = select(path, "SELECT count(*), sum(end - start) FROM OSRT_API WHERE globalTid = ?", thread)
        off_cpu = select(
            path,
            """SELECT sum(back - start), count(*) FROM (
                 SELECT start, isSchedIn, lead(start) OVER (ORDER BY start) AS back FROM SCHED_EVENTS
                 WHERE globalTid = ?) WHERE NOT isSchedIn""",
            thread,
        )
        switches = select(path, "SELECT isSchedIn FROM SCHED_EVENTS WHERE globalTid = ? ORDER BY start", thread)
        assert os_calls == (host.os_call_count, host.os_call_ns)
        assert off_cpu == [(host.off_cpu_ns, len(switches) // 2)]
        assert switches == [(0,), (1,)] * (len(switches) // 2)
        # data loading is waited for at the pipe: each loader's range has its poll
        [loading] = select(
            path,
            """SELECT count(*) FROM NVTX_EVENTS n JOIN OSRT_API o ON o.globalTid = n.globalTid AND o.start = n.start
               JOIN StringIds s ON s.id = o.nameId
               WHERE n.text LIKE 'enumerate(DataLoader)%' AND s.value = 'poll' AND n.globalTid = ?""",
            thread,
        )
        assert loading == (2 * 2,)


def test_memory_in_use_is_that_of_the_truth_and_only_what_is_live_is_freed(everything: Written) -> None:
    for rank in everything.truth.ranks:
        live: dict[int, int] = {}
        in_use = []
        events = select(
            everything.path_of(rank),
            """SELECT address, bytes, memoryOperationType, correlationId FROM CUDA_GPU_MEMORY_USAGE_EVENTS
               WHERE globalPid = ? AND deviceId = ? AND memKind = 2 ORDER BY start, rowid""",
            thread_of(rank) & ~0xFFFFFF,
            rank.device_id,
        )
        for address, size_bytes, is_freed, correlation in events:
            if is_freed:
                assert live.pop(address) == size_bytes
            else:
                assert all(address >= at + size or address + size_bytes <= at for at, size in live.items())
                live[address] = size_bytes
            if correlation is not None:
                in_use.append(sum(live.values()))
        memory = system_of(rank).memory
        assert memory is not None
        reserved_bytes = sum(size_bytes for _, size_bytes, _, correlation in events if correlation is None)
        assert (reserved_bytes, max(in_use), in_use[-1]) == (
            memory.start_bytes,
            memory.peak_bytes,
            memory.end_bytes,
        )
        # eight layers free and allocate in each of two steps, twice
        assert len(in_use) == 2 * 8 * 2 * 2


def test_synchronisations_lie_in_the_call_that_made_them(everything: Written) -> None:
    for rank in everything.truth.ranks:
        path, process = everything.path_of(rank), thread_of(rank) & ~0xFFFFFF
        found = select(
            path,
            """SELECT s.syncType, v.value, s.streamId, count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s
               JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = s.correlationId
                 AND r.globalTid & ~0xFFFFFF = s.globalPid AND r.start <= s.start AND s.end <= r.end
               JOIN StringIds v ON v.id = r.nameId WHERE s.globalPid = ? GROUP BY 1, 2, 3""",
            process,
        )
        # two recordings of two steps: an event after each of 8 layers, one before the optimizer, a wait at the end
        assert sorted(found) == [
            (2, "cudaStreamWaitEvent_v3020", 7, 2 * 2),
            (2, "cudaStreamWaitEvent_v3020", 23, 2 * 2 * 8),
            (4, "cudaDeviceSynchronize_v3020", 0xFFFFFFFF, 2),
        ]
        [unrecorded] = select(
            path,
            """SELECT count(*) FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s WHERE syncType = 2 AND NOT EXISTS (
                 SELECT 1 FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT e WHERE e.eventId = s.eventId
                 AND e.globalPid = s.globalPid AND e.correlationId < s.correlationId)""",
        )
        assert unrecorded == (0,)


def test_samples_cover_all_of_the_session_and_their_mean_is_that_of_the_truth(everything: Written) -> None:
    sample_ns, sampled_ns = 100_000, 2 * everything.truth.recording_period_ns
    for gpu_id, rank in enumerate(everything.truth.ranks):
        path = everything.path_of(rank)
        rows = select(
            path,
            """SELECT timestamp, metricName, value FROM GPU_METRICS
               JOIN TARGET_INFO_GPU_METRICS USING (typeId, metricId)
               WHERE typeId & 0xFF = ? ORDER BY timestamp""",
            gpu_id,
        )
        by_name: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for time_ns, name, value in rows:
            by_name[name.removesuffix(" [Throughput %]").replace("SM Active", "SMs Active")].append((time_ns, value))
        truth = system_of(rank).counter_mean_percents
        assert truth is not None
        assert by_name.keys() == truth.keys()
        for name, samples in by_name.items():
            first_ns = samples[0][0]
            assert [time_ns for time_ns, _ in samples] == list(range(first_ns, first_ns + sampled_ns, sample_ns))
            mean = sum(value for _, value in samples) * sample_ns / rank.time.window_ns
            assert mean == pytest.approx(truth[name], abs=0.6)
        compute_ns = rank.time.compute_only_ns + rank.time.overlapped_ns
        active = compute_ns * 100 + rank.time.exposed_communication_ns * 18
        assert truth["SMs Active"] == pytest.approx(active / rank.time.window_ns)


def test_old_samples_are_json_too(tmp_path: Path) -> None:
    [path, _] = write(job(EVERYTHING, schema="3.7", rank_count=1), tmp_path)

    from_rows: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for time_ns, name, value in select(
        path,
        """SELECT timestamp, metricName, value FROM GPU_METRICS
           JOIN TARGET_INFO_GPU_METRICS USING (typeId, metricId)""",
    ):
        from_rows[time_ns][name.removesuffix(" [Throughput %]")] = value
    from_json = {
        time_ns: {name: int(value) for name, value in json.loads(data).items()}
        for time_ns, data in select(path, "SELECT timestamp, data FROM GENERIC_EVENTS")
    }
    assert from_json == from_rows
    # what the recipe gpu_metric_util_map of that release asks for
    assert {"SM Active", "SM Issue", "Tensor Active"} <= from_json.popitem()[1].keys()


def test_each_process_has_its_mpi_rank(everything: Written) -> None:
    for rank in everything.truth.ranks:
        found = select(everything.path_of(rank), "SELECT rank FROM MPI_RANKS WHERE globalTid = ?", thread_of(rank))
        assert found == [(rank.rank,)]


def test_everything_lies_in_the_session(tmp_path: Path) -> None:
    [path, _] = write(job(EVERYTHING, recording_count=3), tmp_path)

    [(duration_ns,)] = select(path, "SELECT duration FROM ANALYSIS_DETAILS")
    columns = {"OSRT_API": "end", "SCHED_EVENTS": "start", "GPU_METRICS": "timestamp", "NVTX_EVENTS": "end"}
    for table, column in columns.items():
        assert select(path, f'SELECT max("{column}") <= {duration_ns}, min("{column}") >= 0 FROM {table}') == [(1, 1)]


def test_words_name_kinds() -> None:
    assert parse_kinds("cuda, nvtx") == USUAL_KINDS
    assert parse_kinds(",".join(kind.value for kind in TraceKind)) == EVERYTHING
    with pytest.raises(UsageError, match="no kind of record 'osr'"):
        parse_kinds("cuda,osr")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"kinds": frozenset({TraceKind.NVTX})}, "Without CUDA there is nothing to tell"),
        ({"kinds": EVERYTHING, "file_format": FileFormat.KINETO}, "PyTorch's profiler records"),
        ({"kinds": USUAL_KINDS, "file_format": FileFormat.KINETO, "recording_count": 2}, "PyTorch's profiler records"),
    ],
)
def test_what_cannot_be_recorded_is_refused(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        generate(Request(scenario=find_scenario("healthy"), **options))
