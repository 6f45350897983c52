"""Folders of Parquet or Arrow tables give the trace that the SQLite export of the same run gives."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nsysan.ingest.fingerprint import fingerprint_of
from nsysan.model.host_events import SwitchTag
from nsysan.model.tables import ABSENT, Table
from nsysan.model.trace import Trace
from nsysan.synth.export import Export
from tests.ingest.reading import read, refusal, rows

if TYPE_CHECKING:
    import pyarrow as pa

    from tests.ingest import table_folders
else:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from tests.ingest import table_folders

FORMATS = (".parquet", ".arrow")
KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
in_both_formats = pytest.mark.parametrize("suffix", FORMATS)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A run with every kind of record that is read, more of them than a group of rows holds."""
    export = Export().gpu(0, uuid="u0").gpu(1, uuid="u1").cuda_device(uuid="u0").host("node1")
    for step in range(150):
        export.kernel(step * 10, step * 10 + 5, f"kernel {step % 7}", device=step % 2)
        export.copy(step, step + 1, 8, src_device=None if step % 3 else 1).memset(step, step + 1, 8).graph(
            step, step + 1
        )
        export.nvtx(step, step + 1, f"step {step}").nvtx(step, None, "load", registered=True)
        export.memory(step, 8, step).gpu_page_fault(step, step + 1, 2).host_page_fault(step)
        export.cpu_sample(step, ["collate", "main"]).gpu_switch(step, SwitchTag.RESTORE_START, context=step % 3)
        export.network_sample(step, step + 1, 0, 6, step).gpu_sample(step, 0, {"SM Active": step % 100, "other": 1})
    export.gpu_metrics(0, ["SM Active", "other"]).network_adapter(0, "mlx5_0").network_metric(6, "IB: Bytes sent")
    return export.nvtx_domain(1, "NCCL").nvtx(0, 1, "größe").write(tmp_path / "rank0.sqlite")


def comparable(trace: Trace) -> dict[str, Any]:
    """All that a trace holds, without what tells the inputs apart."""
    fields = msgspec.structs.asdict(trace)
    identity = msgspec.structs.replace(fields.pop("identity"), path="")
    for name in ("name", "reader", "fingerprint"):
        del fields[name]
    tables = {name: rows(table) for name, table in fields.items() if isinstance(table, Table)}
    return fields | tables | {"identity": identity}


@in_both_formats
def test_the_trace_is_that_of_the_sqlite_export(tmp_path: Path, export: Path, suffix: str) -> None:
    folder = table_folders.as_folder(export, tmp_path / "rank0_pqtdir", suffix)

    trace = read(folder)

    assert comparable(trace) == comparable(read(export))
    assert (trace.name, trace.reader) == ("rank0_pqtdir", "nsys_folder")
    assert trace.fingerprint == fingerprint_of(folder, hash_content=False)
    assert trace.fingerprint.size_bytes == sum(path.stat().st_size for path in folder.iterdir())


@in_both_formats
def test_what_a_folder_lacks_is_absent(tmp_path: Path, export: Path, suffix: str) -> None:
    folder = table_folders.as_folder(export, tmp_path / "folder", suffix)
    kept = ("NVTX_EVENTS", KERNEL)
    for path in folder.iterdir():
        if path.stem not in kept:
            path.unlink()

    trace = read(folder)

    assert (trace.copies, trace.memsets, trace.graph_launches, trace.nsys_version) == (None, None, None, None)
    assert len(rows(trace.kernels)) == 150
    assert "load" not in trace.strings.values()
    assert "step 7" in trace.strings.values()


VALUES = {
    "NULL among the starts": ({"start": pa.array([None, 20])}, [(20, 25)], 1),
    "starts that are no integers": ({"start": pa.array([1.0, 2.0])}, [], 2),
    "starts as text": ({"start": pa.array(["10", "20"])}, [], 2),
    "small integers": ({"start": pa.array([10, 20], pa.int16())}, [(10, 15), (20, 25)], 0),
    "unsigned beyond the range": ({"start": pa.array([2**64 - 5, 20], pa.uint64())}, [(-5, 15), (20, 25)], 0),
    "all NULL": ({"start": pa.nulls(2)}, [], 2),
    "a list": ({"start": pa.array([[1], [2]])}, [], 2),
    "no start at all": ({"start": None}, None, 2),
}


@in_both_formats
@pytest.mark.parametrize("case", VALUES)
def test_values_count_as_they_do_in_sqlite(tmp_path: Path, case: str, suffix: str) -> None:
    changes, times, unreadable_count = VALUES[case]
    columns = {"start": pa.array([10, 20]), "end": pa.array([15, 25]), "globalPid": pa.array([1, 1])}
    columns |= {"deviceId": pa.array([0, 0])} | changes
    table = pa.table({name: column for name, column in columns.items() if column is not None})
    table_folders.write_table(tmp_path / f"{KERNEL}{suffix}", table)

    trace = read(tmp_path)

    assert (None if trace.kernels is None else rows(trace.kernels, "start_ns", "end_ns")) == times
    assert trace.unreadable_records == ({KERNEL: unreadable_count} if unreadable_count else {})


int64s = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3)
# a column of one type, as Arrow has it, and the values that Arrow and SQLite both can hold
COLUMNS = st.one_of(
    st.lists(st.none() | int64s, min_size=4, max_size=4).map(lambda values: pa.array(values, pa.int64())),
    st.lists(st.none() | st.floats(-9, 9), min_size=4, max_size=4).map(lambda values: pa.array(values, pa.float64())),
    st.lists(st.none() | st.text("aé0", max_size=2), min_size=4, max_size=4).map(
        lambda values: pa.array(values, pa.string())
    ),
)
TEXT_COLUMNS = COLUMNS.filter(lambda column: not pa.types.is_floating(column.type))
EVENTS = st.fixed_dictionaries(
    {"start": COLUMNS, "end": COLUMNS},
    optional={"eventType": COLUMNS | st.just(pa.array([59, 75, 60, 59])), "text": TEXT_COLUMNS}
    | dict.fromkeys(("textId", "globalTid", "domainId"), COLUMNS),
)


@in_both_formats
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=EVENTS, strings=COLUMNS)
def test_both_forms_of_any_table_give_one_trace(
    tmp_path: Path, suffix: str, events: dict[str, Any], strings: Any
) -> None:
    tables = {"NVTX_EVENTS": events, "StringIds": {"id": pa.array(range(4)), "value": strings}}
    export, folder = tmp_path / "rank0.sqlite", tmp_path / "tables"
    export.unlink(missing_ok=True)
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(export)) as connection, connection:
        for name, columns in tables.items():
            table_folders.write_table(folder / f"{name}{suffix}", pa.table(columns))
            connection.execute(f"CREATE TABLE {name} ({', '.join(map(quoted, columns))})")
            rows_of = zip(*(column.to_pylist() for column in columns.values()), strict=True)
            connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows_of)

    assert comparable(read(folder)) == comparable(read(export))


def quoted(column: str) -> str:
    return f'"{column}"'


@in_both_formats
@pytest.mark.parametrize("text_type", ["string", "large_string", "binary", "dictionary"])
def test_names_in_every_type_of_text(tmp_path: Path, text_type: str, suffix: str) -> None:
    stored = pa.array([b"inline \xff", None, b"", b""], pa.binary())
    if text_type != "binary":
        # nsys does not promise UTF-8
        stored = (
            stored.view(pa.string()) if text_type != "large_string" else stored.cast(pa.large_binary()).view(text_type)
        )
    if text_type == "dictionary":
        stored = pa.array(["inline \ufffd", None, "", ""]).dictionary_encode()
    events = {
        "start": pa.array(range(4)),
        "end": pa.array([5, None, 5, 5]),
        "eventType": pa.array([59] * 4),
        "text": stored,
        "textId": pa.array([None, 7, 7, None], pa.int32()),
    }
    table_folders.write_table(tmp_path / f"NVTX_EVENTS{suffix}", pa.table(events))
    strings = pa.table({"id": pa.array([7], pa.int32()), "value": pa.array([b"stored"], pa.binary()).view(pa.string())})
    table_folders.write_table(tmp_path / f"StringIds{suffix}", strings)

    trace = read(tmp_path)

    names = [trace.text(name_id) for (name_id,) in rows(trace.nvtx_ranges, "name_id")]
    assert names == ["inline \ufffd", "stored", "stored", ""]
    assert rows(trace.nvtx_ranges, "end_ns") == [(5,), (ABSENT,), (5,), (5,)]


@in_both_formats
def test_a_damaged_file_is_named(tmp_path: Path, export: Path, suffix: str) -> None:
    folder = table_folders.as_folder(export, tmp_path / "folder", suffix)
    damaged = folder / f"{KERNEL}{suffix}"
    content = damaged.read_bytes()
    for kept in (b"", content[:3], content[: len(content) // 2], b"\0" * len(content)):
        damaged.write_bytes(kept)
        error = refusal(folder)
        assert error.exit_code == 2
        assert error.message.startswith(f"{damaged} cannot be read: "), kept[:20]
        assert error.hint


@in_both_formats
def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, export: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = table_folders.as_folder(export, tmp_path / "folder", suffix)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    error = refusal(folder)

    assert error.exit_code == 3
    assert error.message.endswith("and pyarrow, which reads them, is not installed.")
    assert "pip install 'nsysan[parquet]'" in error.hint


def test_pyarrow_is_imported_only_for_those_who_need_it(export: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from nsysan.ingest.reading import ReadOptions, read_trace; "
        "read_trace(Path(sys.argv[1]), ReadOptions()); print('pyarrow' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", program, export], check=True, capture_output=True, text=True)

    assert answer.stdout == "False\n"


@in_both_formats
def test_a_single_file_of_a_folder_is_refused_with_what_to_give(tmp_path: Path, export: Path, suffix: str) -> None:
    folder = table_folders.as_folder(export, tmp_path / "folder", suffix)

    error = refusal(folder / f"{KERNEL}{suffix}")

    assert error.exit_code == 2
    assert "Give the whole folder" in error.hint
