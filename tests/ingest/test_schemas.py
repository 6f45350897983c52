"""One little run in the tables and columns of every release from 2020 to 2026: the same records from all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.model.trace import CudaDevice, PhysicalGpu, Trace
from nsysan.synth.export import Export
from tests.ingest.layouts import SCHEMAS, Layout, lay_out, layout_of
from tests.ingest.reading import edit, read, rows

EPOCH_NS = 1_779_630_014_975_716_426
HELD_IN = {
    "kernels": "CUPTI_ACTIVITY_KIND_KERNEL",
    "copies": "CUPTI_ACTIVITY_KIND_MEMCPY",
    "memsets": "CUPTI_ACTIVITY_KIND_MEMSET",
    "graph_launches": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "nvtx_ranges": "NVTX_EVENTS",
}

PID_100 = 1 << 48 | 100 << 24
NULL = -(2**63)
# every field of every record in order of declaration, but the name first
RECORDS: dict[str, list[tuple[object, ...]]] = {
    "kernels": [
        ("void gemm<float>(int)", 10, 20, PID_100, 0, 1, 7, 1),
        ("softmax", 25, 30, PID_100, 1, 1, 9, 2),
    ],
    "copies": [("", 30, 40, PID_100, 0, 1, 7, 3, 512, 1, 1, 2, 0, 1)],
    "memsets": [("", 40, 50, PID_100, 0, 1, 7, 4, 64)],
    "graph_launches": [("", 50, 60, PID_100, 0, 1, 7, 5, 7)],
    "nvtx_ranges": [("inline", 0, 90, PID_100 | 100, 0, 59, NULL), ("registered", 5, 80, PID_100 | 101, 3, 59, NULL)],
}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A record of every kind."""
    export = Export().gpu(0, "NVIDIA A100", uuid="u0").cuda_device(gpu_id=0, uuid="u0")
    export.kernel(10, 20, "void gemm<float>(int)").kernel(25, 30, "softmax", device=1, stream=9)
    export.copy(30, 40, 512, src_memory=1, dst_memory=2, src_device=0, dst_device=1).memset(40, 50, 64).graph(50, 60, 7)
    export.nvtx(0, 90, "inline").nvtx(5, 80, "registered", registered=True, tid=101, domain=3)
    return export.session(utc_epoch_ns=EPOCH_NS, duration_ns=100).write(tmp_path / "original.sqlite")


def records(trace: Trace, held: str) -> list[tuple[object, ...]] | None:
    """Every field of every record, names as text."""
    table = getattr(trace, held)
    if table is None:
        return None
    names = (
        [trace.text(row[0]) for row in rows(table, "name_id")] if "name_id" in table.columns() else [""] * len(table)
    )
    others = [name for name in table.columns() if name != "name_id"]
    return [(name, *row) for name, row in zip(names, rows(table, *others), strict=True)]


@pytest.mark.skipif(not SCHEMAS, reason="the shared schemas are not beside this checkout")
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda path: path.stem)
def test_every_release_gives_the_records_that_it_holds(tmp_path: Path, export: Path, schema: Path) -> None:
    layout = layout_of(schema)

    trace = read(lay_out(export, layout, tmp_path / "rank0.sqlite", has_nulls=schema.stem >= "2022"))

    held = {kind: RECORDS[kind] if table in layout else None for kind, table in HELD_IN.items()}
    assert {kind: records(trace, kind) for kind in HELD_IN} == held
    assert trace.unreadable_records == {}
    has_version = not {"EXPORT_META_DATA", "META_DATA_EXPORT"}.isdisjoint(layout)
    assert (trace.nsys_version is None, trace.export_schema is None) == (not has_version, not has_version)
    assert trace.capture_ns == (100 if "ANALYSIS_DETAILS" in layout else None)
    assert trace.session_start_utc_ns == (EPOCH_NS if "TARGET_INFO_SESSION_START_TIME" in layout else None)
    if "TARGET_INFO_GPU" in layout:
        assert [(gpu.gpu_id, gpu.name, gpu.uuid) for gpu in trace.gpus] == [(0, "NVIDIA A100", "u0")]
    device_columns = layout.get("TARGET_INFO_CUDA_DEVICE")
    expected = (
        CudaDevice(100, 0, 0, "u0", 132)
        if device_columns and "uuid" in device_columns
        else CudaDevice(100, 0, 0, None, None)
    )
    assert trace.cuda_devices == ((expected,) if device_columns else trace.cuda_devices)


GRAPH_EVENTS = {
    "node creation, up to 2023.4": "start end eventClass globalTid nameId graphNodeId originalGraphNodeId",
    "graph creation, later": "start end eventClass globalTid nameId graphId originalGraphId graphExecId",
    "every column of both, and of GPU work": "start end deviceId contextId streamId correlationId globalPid graphId",
}


@pytest.mark.parametrize("meaning", GRAPH_EVENTS)
def test_graph_events_are_never_graph_launches(tmp_path: Path, export: Path, meaning: str) -> None:
    layout: Layout = {"CUPTI_ACTIVITY_KIND_KERNEL": ["start", "end", "deviceId", "globalPid"]}
    layout["CUDA_GRAPH_EVENTS"] = GRAPH_EVENTS[meaning].split()

    trace = read(lay_out(export, layout, tmp_path / "rank0.sqlite", has_nulls=True))

    assert (len(rows(trace.kernels)), trace.graph_launches) == (2, None)


def test_the_gpus_of_2020_are_those_that_each_process_saw(tmp_path: Path, export: Path) -> None:
    columns = "vmId name pciBusId globalMemoryBandwidth globalMemorySize numMultiprocessors deviceId pid"
    layout: Layout = {"CUPTI_ACTIVITY_KIND_KERNEL": ["start", "end", "deviceId", "globalPid"]}
    path = lay_out(export, layout, tmp_path / "rank0.sqlite", has_nulls=False)
    edit(path, f"CREATE TABLE TARGET_INFO_CUDA_GPU ({columns.replace(' ', ',')})")
    # process 200 sees the two GPUs of process 100 the other way round
    for pid, device_id, bus in ((100, 0, "0000:3b:00.0"), (100, 1, "0000:af:00.0"), (200, 0, "0000:af:00.0")):
        edit(path, f"INSERT INTO TARGET_INFO_CUDA_GPU VALUES (1, 'V100', '{bus}', 9, 32, 80, {device_id}, {pid})")

    trace = read(path)

    assert trace.gpus == (
        PhysicalGpu(0, "V100", None, "0000:3b:00.0", 80, 32, None),
        PhysicalGpu(1, "V100", None, "0000:af:00.0", 80, 32, None),
    )
    assert trace.cuda_devices == (
        CudaDevice(100, 0, 0, None, 80),
        CudaDevice(100, 1, 1, None, 80),
        CudaDevice(200, 0, 1, None, 80),
    )


@pytest.mark.parametrize("dropped", ["META_DATA_EXPORT", "nothing but the statement of the shift"])
def test_times_that_were_normalised_without_saying_so(export: Path, dropped: str) -> None:
    tables = [table for table in HELD_IN.values() if table != "NVTX_EVENTS"]
    edit(
        export,
        *(
            f'UPDATE {table} SET start = start + {EPOCH_NS}, "end" = "end" + {EPOCH_NS}'
            for table in (*tables, "NVTX_EVENTS")
        ),
        # a record whose time could not be taken
        f'UPDATE {tables[0]} SET start = 0, "end" = 0 WHERE deviceId = 1',
        f"DROP TABLE {dropped}"
        if "_" in dropped
        else "DELETE FROM META_DATA_EXPORT WHERE name = 'EXPORT_CONFIG_TIME_SHIFT'",
    )

    trace = read(export)

    for held in ("copies", "memsets", "graph_launches", "nvtx_ranges"):
        assert records(trace, held) == RECORDS[held]
    assert rows(trace.kernels, "start_ns", "end_ns") == [(10, 20), (-EPOCH_NS, -EPOCH_NS)]


@pytest.mark.parametrize("epoch_ns", [0, 40, EPOCH_NS])
def test_times_from_session_start_are_left_alone(tmp_path: Path, epoch_ns: int) -> None:
    # ten days into a session; a clock that was never set begins in 1970
    late_ns = 10 * 86_400 * 10**9
    export = Export().kernel(late_ns, late_ns + 5, "gemm").session(utc_epoch_ns=epoch_ns)
    path = export.sql("DROP TABLE META_DATA_EXPORT").write(tmp_path / "rank0.sqlite")

    assert rows(read(path).kernels, "start_ns", "end_ns") == [(late_ns, late_ns + 5)]


def test_an_empty_text_beside_a_string_id_says_nothing(tmp_path: Path) -> None:
    # as in 2020 and 2021, which know no NULL; and a range that really has an empty name
    export = Export().nvtx(0, 1, "registered", registered=True).nvtx(1, 2, "")
    export.sql("UPDATE NVTX_EVENTS SET text = '' WHERE start = 0")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert [trace.text(name_id) for (name_id,) in rows(trace.nvtx_ranges, "name_id")] == ["registered", ""]


def test_repeated_rows_stay_repeated(tmp_path: Path) -> None:
    export = Export().kernel(10, 20, "gemm").nvtx(0, 30, "step")
    for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS"):
        export.sql(f"INSERT INTO {table} SELECT * FROM {table}")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert records(trace, "kernels") == [("gemm", 10, 20, PID_100, 0, 1, 7, 1)] * 2
    assert rows(trace.nvtx_ranges, "start_ns", "end_ns") == [(0, 30)] * 2


@pytest.mark.parametrize("column", ["text", "textId"])
def test_names_of_100_kb_stay_apart_by_their_last_byte(tmp_path: Path, column: str) -> None:
    export, base = Export(), "x" * 100_000
    for number in range(3):
        export.nvtx(number, 9, f"{base}{number}", registered=column == "textId")
        export.kernel(number, 9, f"{base}<{number}>")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    for table, ends in ((trace.nvtx_ranges, ["0", "1", "2"]), (trace.kernels, ["<0>", "<1>", "<2>"])):
        assert [trace.text(name_id) for (name_id,) in rows(table, "name_id")] == [base + end for end in ends]
