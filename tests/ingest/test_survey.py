"""What a report holds, counted: facts as they were put in, whatever the order, names and times of the rows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nsysan.ingest.reading import ReadOptions, read_trace, survey_report
from nsysan.ingest.trace_survey import contents_of
from nsysan.model.contents import (
    Communicators,
    Contents,
    DeviceWork,
    NamedCount,
    NvtxContents,
    ProcessWork,
    TableRows,
)
from nsysan.model.errors import InputError
from nsysan.model.profilers import Profiler
from nsysan.model.text import DISPLAY_LIMIT
from nsysan.model.trace import CudaDevice, PhysicalGpu
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.export import Export
from tests.ingest.nsys_stand_in import REPORT_HEAD, StandIn, copies

TRACES = Path(__file__).parents[3] / "shared" / "traces"
EXPORTS = sorted(TRACES.glob("*.sqlite"))
HOUR_NS = 3_600_000_000_000


def survey(export: Export, folder: Path, **how: Any) -> Contents:
    return survey_report(export.write(folder / "export.sqlite", **how), ReadOptions())


def job() -> Export:
    """Two processes with two devices; the second opens ranges in a domain of its own."""
    export = Export().session(utc_epoch_ns=1_700_000_000_000_000_000, duration_ns=10_000).host("node1")
    export.gpu(0, uuid="GPU-0").cuda_device(pid=100, uuid="GPU-0").cuda_device(pid=200, device_id=1, gpu_id=0)
    export.kernel(1_000, 2_000, "gemm").copy(500, 800, 64).kernel(3_000, 4_000, "gemm", pid=200, device=1)
    export.nvtx(0, 5_000, "step").nvtx(5_000, 9_000, "step", registered=True).nvtx(10, 20, "load")
    return export.nvtx_domain(1, "NCCL", pid=200).nvtx(3_000, 3_100, "ncclAllReduce", pid=200, domain=1)


def test_the_facts_of_a_report(tmp_path: Path) -> None:
    contents = survey(job(), tmp_path)

    assert replace(contents, tables=(), open_questions=(), size_bytes=0) == Contents(
        nsysan_version=contents.nsysan_version,
        name="export.sqlite",
        reader="nsys_sqlite",
        profiler=Profiler.NSYS,
        size_bytes=0,
        nsys_version="2026.2.1.210",
        export_schema="3.25.0",
        capture_ns=10_000,
        session_start_utc_ns="1700000000000000000",
        host_count=1,
        hosts=("node1",),
        identity=contents.identity,
        process_count=2,
        processes=(ProcessWork(100, "python3", 2, 3), ProcessWork(200, "python3", 1, 1)),
        gpus=(PhysicalGpu(0, "NVIDIA H100 80GB HBM3", "GPU-0", None, 132, 85_028_765_696, 3_352_320_000_000),),
        cuda_devices=(CudaDevice(100, 0, 0, "GPU-0", 132), CudaDevice(200, 1, 0, None, 132)),
        devices=(DeviceWork(100, 0, 2, 500, 2_000), DeviceWork(200, 1, 1, 3_000, 4_000)),
        work_start_ns=500,
        work_end_ns=4_000,
        nvtx=NvtxContents(
            range_count=4,
            domains=(NamedCount("default", 3), NamedCount("NCCL", 1)),
            frequent_names=(NamedCount("step", 2), NamedCount("load", 1), NamedCount("ncclAllReduce", 1)),
        ),
        rank=None,
        world_size=None,
        communicators=Communicators((), (), 1),
        tables=(),
        open_questions=(),
    )
    assert contents.size_bytes == (tmp_path / "export.sqlite").stat().st_size


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    in_order, shuffled = survey(job(), tmp_path), survey(job(), tmp_path, shuffle_seed=5)

    assert replace(shuffled, size_bytes=in_order.size_bytes) == in_order


def test_every_table_is_counted_not_only_those_that_are_read(tmp_path: Path) -> None:
    export = job().sql('CREATE TABLE "odd ""name"" (x" (x)').sql('INSERT INTO "odd ""name"" (x" VALUES (1), (2)')
    export.sql("CREATE VIEW computed AS SELECT 1").sql("CREATE TABLE SCHED_EVENTS (start)")

    counts = {table.name: table.row_count for table in survey(export, tmp_path).tables}

    wanted = ("CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS", "SCHED_EVENTS", 'odd "name" (x', "computed")
    assert {name: counts[name] for name in wanted} == {
        "CUPTI_ACTIVITY_KIND_KERNEL": 2,
        "NVTX_EVENTS": 5,
        "SCHED_EVENTS": 0,
        'odd "name" (x': 2,
        "computed": None,
    }


def test_a_view_is_never_evaluated(tmp_path: Path) -> None:
    """Counting this one would take for ever."""
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"

    contents = survey(job().sql(f"CREATE VIEW PROCESS_VIEW AS {endless}"), tmp_path)

    assert TableRows("PROCESS_VIEW", None) in contents.tables


def test_a_report_without_anything(tmp_path: Path) -> None:
    contents = survey(Export().session(duration_ns="absent"), tmp_path)

    assert (contents.capture_ns, contents.host_count, contents.hosts) == (None, None, ())
    assert (contents.process_count, contents.processes, contents.gpus, contents.devices) == (None, (), (), ())
    assert (contents.work_start_ns, contents.work_end_ns, contents.nvtx, contents.communicators) == (None,) * 4


def test_mpi_tells_ranks_and_communicators(tmp_path: Path) -> None:
    export = Export().sql("CREATE TABLE MPI_RANKS (globalTid INTEGER, rank INTEGER)")
    export.sql("INSERT INTO MPI_RANKS VALUES (1, 3), (2, 0), (3, 'x')")
    export.sql("CREATE TABLE MPI_COMMUNICATORS (rank INTEGER, size INTEGER)")
    export.sql("INSERT INTO MPI_COMMUNICATORS VALUES (0, 8), (1, 8), (0, 2)")

    assert survey(export, tmp_path).communicators == Communicators((0, 3), (2, 8), 0)


def test_nccl_is_known_by_its_names_where_the_domain_has_lost_its_own(tmp_path: Path) -> None:
    export = Export().nvtx(0, 9, "ncclSend", domain=1).nvtx(0, 9, "ncclRecv", domain=1, registered=True)
    export.nvtx(0, 9, "nccl is slow")

    contents = survey(export, tmp_path)

    assert contents.communicators == Communicators((), (), 2)
    assert contents.nvtx is not None
    assert contents.nvtx.domains == (NamedCount("domain 1", 2), NamedCount("default", 1))


def test_one_domain_id_means_another_domain_in_every_process(tmp_path: Path) -> None:
    export = Export().nvtx_domain(1, "NCCL", pid=100).nvtx(0, 9, "a", domain=1, pid=100)
    export.nvtx_domain(1, "loader", pid=200).nvtx(0, 9, "b", domain=1, pid=200)

    contents = survey(export, tmp_path)

    assert contents.nvtx is not None
    assert contents.nvtx.domains == (NamedCount("NCCL", 1), NamedCount("loader", 1))


def test_times_that_cannot_be_widen_no_span(tmp_path: Path) -> None:
    """The records that ``analyze`` leaves out are counted, as rows are, but say nothing about when."""
    export = Export().kernel(100, 200, "k").kernel(0, 0, "never").kernel(1 << 62, 1 << 62, "unknown")
    export.kernel(300, 250, "backwards").kernel(-90, -80, "before").kernel(-10, 20, "across")

    expected = (DeviceWork(100, 0, 6, 0, 200),)
    assert survey(export, tmp_path).devices == expected
    assert contents_of(read_trace(tmp_path / "export.sqlite", ReadOptions()), ()).devices == expected


@pytest.mark.parametrize("is_stated", [True, False])
def test_normalised_times_are_session_times_again(tmp_path: Path, *, is_stated: bool) -> None:
    start_ns = 1_700_000_000_000_000_000
    export = Export().session(utc_epoch_ns=start_ns, duration_ns=HOUR_NS)
    export.kernel(start_ns + 100, start_ns + 200, "k").kernel(start_ns, start_ns, "never")
    shift = f"'{start_ns}'" if is_stated else "NULL"
    export.sql(f"UPDATE META_DATA_EXPORT SET value = {shift} WHERE name = 'EXPORT_CONFIG_TIME_SHIFT'")

    assert survey(export, tmp_path).devices == (DeviceWork(100, 0, 2, 100, 200),)


def test_hostile_names_are_bounded_and_hide_nothing(tmp_path: Path) -> None:
    hostile = "\x1b[2J\u202e" + "x" * 100_000
    export = Export().host(hostile).gpu(name=hostile).nvtx(0, 9, hostile).nvtx_domain(1, hostile)
    export.nvtx(0, 9, "y", domain=1).kernel(0, 9, hostile).sql(f"UPDATE PROCESSES SET name = '{hostile}'")
    export.sql(f'CREATE TABLE "{hostile[:300]}" (x)')

    contents = survey(export, tmp_path)

    assert contents.nvtx is not None
    assert contents.hosts is not None
    assert contents.processes is not None
    names: list[str | None] = [*contents.hosts, *(gpu.name for gpu in contents.gpus)]
    names += [process.name for process in contents.processes] + [table.name for table in contents.tables]
    names += [each.name for each in (*contents.nvtx.domains, *contents.nvtx.frequent_names)]
    assert all(name is not None and name.isprintable() and len(name) < DISPLAY_LIMIT + 40 for name in names)
    assert sum("\\x1b[2J\\u202e" in (name or "") for name in names) == 6


def test_bytes_that_are_no_text_are_names_all_the_same(tmp_path: Path) -> None:
    export = Export().nvtx(0, 9, "a").sql("UPDATE NVTX_EVENTS SET text = CAST(x'66ff00' AS TEXT)")

    contents = survey(export, tmp_path)

    assert contents.nvtx is not None
    assert contents.nvtx.frequent_names == (NamedCount("f\ufffd\\x00", 1),)


def test_what_is_no_export_is_refused_as_for_reading(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (x)")

    with pytest.raises(InputError, match="no Nsight Systems export"):
        survey_report(path, ReadOptions())


def test_a_report_is_exported_with_every_table(tmp_path: Path) -> None:
    report = tmp_path / "run.nsys-rep"
    report.write_bytes(REPORT_HEAD)
    export = (
        job().sql("CREATE TABLE OSRT_API (start)").sql("INSERT INTO OSRT_API VALUES (5)").write(tmp_path / "e.sqlite")
    )
    nsys = StandIn(tmp_path, copies(export))

    contents = survey_report(report, ReadOptions(nsys=str(nsys.executable)))

    assert TableRows("OSRT_API", 1) in contents.tables
    assert not [argument for argument in nsys.arguments() if argument.startswith("--tables")]
    assert (contents.name, contents.reader) == ("run.nsys-rep", "nsys_report")


def test_a_trace_that_was_read_says_the_same(tmp_path: Path) -> None:
    """Formats that cannot be counted are read, and their traces counted."""
    path = job().write(tmp_path / "export.sqlite")
    counted, read = survey_report(path, ReadOptions()), contents_of(read_trace(path, ReadOptions()), ())

    same = ("hosts", "gpus", "cuda_devices", "devices", "work_start_ns", "work_end_ns", "nvtx", "capture_ns")
    assert {name: getattr(read, name) for name in same} == {name: getattr(counted, name) for name in same}
    assert read.tables == (
        TableRows("kernels", 2),
        TableRows("copies", 1),
        TableRows("nvtx_ranges", 4),
    )


@pytest.mark.skipif(not EXPORTS, reason="the shared real exports are not beside this checkout")
@pytest.mark.parametrize("export", EXPORTS, ids=lambda path: path.stem)
def test_real_exports(export: Path) -> None:
    contents = survey_report(export, ReadOptions())

    with closing(sqlite3.connect(f"{export.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        names = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        ]
        own = [name for name in names if not name.startswith("sqlite_")]
        counts = [connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in own]
    assert contents.tables == tuple(map(TableRows, own, counts))
    assert contents.open_questions


@pytest.mark.skipif(not EXPORTS, reason="the shared real exports are not beside this checkout")
@pytest.mark.parametrize("export", EXPORTS, ids=lambda path: path.stem)
def test_the_work_of_real_exports_is_where_the_analysis_finds_it(export: Path) -> None:
    contents, trace = survey_report(export, ReadOptions()), read_trace(export, ReadOptions())
    (report,) = analyze([export], AnalyzeOptions(only=("gpu_time",))).reports

    tables = trace.gpu_tables().values()
    records = [table for table in tables if len(table)]
    first = min((int(table.start_ns.min()) for table in records), default=None)
    last = max((int(table.end_ns.max()) for table in records), default=None)
    assert (contents.work_start_ns, contents.work_end_ns) == (first, last)
    assert contents.devices is not None
    assert sum(device.record_count for device in contents.devices) == sum(map(len, tables))
    assert (contents.capture_ns, contents.nsys_version) == (report.capture_ns, report.nsys_version)
