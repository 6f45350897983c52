"""Every table that is written has the columns, types and constraints of the same table in exports by nsys itself."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from nsysan.model.host_events import SwitchTag
from nsysan.synth.export import Export
from nsysan.synth.simulation.payload import PayloadSchema
from nsysan.synth.tables.gpu_records import SyncType
from tests.nsys import find_nsys, profile_ranges

SHARED = Path(__file__).parents[3] / "shared"
REAL_EXPORTS = {
    "3.7": ("gemm-sweep-A100-2022.1",),
    "3.25": ("transformer-RTX5000-windows-2026.2", "alltoall-2xH100-after"),
}
COLUMN_LISTS = {"3.7": ("2023.4.4.54",), "3.25": ("2026.2.1.210", "2026.2.1.210_derived-slice")}

OS_EXPORT = "no-cuda-invalid-utf8-2025.6"
"""The capture at hand nearest to 3.25 that recorded OS calls and scheduling."""
NOT_IN_REAL_EXPORTS = {
    "3.7": {
        "NVTX_EVENTS",
        "GENERIC_EVENTS",
        "OSRT_API",
        "SCHED_EVENTS",
        "COMPOSITE_EVENTS",
        "SAMPLING_CALLCHAINS",
    },
    "3.25": {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "NVTX_PAYLOAD_ENUMS", "NVTX_PAYLOAD_ENUM_ENTRIES"},
}
"""What the captures at hand did not record; of 3.7, nsys itself makes these tables in the last test."""
NOWHERE_AT_HAND = {
    "CUDA_GPU_MEMORY_USAGE_EVENTS",
    "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
    "GPU_CONTEXT_SWITCH_EVENTS",
    "GPU_METRICS",
    "MPI_RANKS",
    "NET_NIC_METRIC",
    "NIC_ID_MAP",
    "TARGET_INFO_GPU_METRICS",
    "TARGET_INFO_NETWORK_METRICS",
    "TARGET_INFO_NIC_INFO",
}

Columns = list[tuple[str, str, int, int]]
SCHEMAS = pytest.mark.parametrize("schema", ["3.7", "3.25"])


def columns_by_table(path: Path) -> dict[str, Columns]:
    """Name, declared type, NOT NULL and primary key of every column."""
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: [
                (column, declared, required, key)
                for _, column, declared, required, _, key in connection.execute(f'PRAGMA table_info("{name}")')
            ]
            for name in names
        }


def write_every_table(schema: str, folder: Path) -> Path:
    export = Export(schema).gpu().host("h").environment("A", "b").kernel(0, 1, "k").copy(0, 1, 2).memset(0, 1, 2)
    export.call(0, 1, "c").nvtx(0, 1, "r").overhead(0, 1, "o").os_call(0, 1, "poll").switch(0, is_in=True).mpi_rank(0)
    export.synchronization(0, 1, SyncType.CONTEXT).cuda_event(1).memory(0, 1, 2)
    export.gpu_metrics(0, ["SMs Active"]).gpu_sample(0, 0, {"SMs Active": 1})
    export.gpu_page_fault(0, 1, 1).host_page_fault(0).cpu_sample(0, ["main"]).gpu_switch(0, SwitchTag.RESTORE_START)
    export.network_adapter(0, "mlx5_0").network_metric(6, "IB: Bytes sent").network_sample(0, 1, 0, 6, 1)
    if schema == "3.25":
        export.cuda_device().graph(0, 1)
        export.payload_schema(PayloadSchema.ALL_REDUCE, domain=1).payload_reductions(domain=1)
    return export.write(folder / "every-table.sqlite")


def shared_file(*parts: str) -> Path:
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip("the shared real exports are not beside this checkout")
    return path


@SCHEMAS
def test_columns_are_those_of_real_exports(schema: str, tmp_path: Path) -> None:
    ours = columns_by_table(write_every_table(schema, tmp_path))
    real: dict[str, Columns] = {}
    if schema == "3.25":
        real |= columns_by_table(shared_file("traces", f"{OS_EXPORT}.sqlite"))
    for name in REAL_EXPORTS[schema]:
        real |= columns_by_table(shared_file("traces", f"{name}.sqlite"))

    compared = ours.keys() & real.keys()
    assert {table: ours[table] for table in compared} == {table: real[table] for table in compared}
    assert ours.keys() - real.keys() == NOT_IN_REAL_EXPORTS[schema] | NOWHERE_AT_HAND


@SCHEMAS
def test_columns_are_those_of_the_listed_schemas(schema: str, tmp_path: Path) -> None:
    ours = columns_by_table(write_every_table(schema, tmp_path))
    for version in COLUMN_LISTS[schema]:
        listed = json.loads(shared_file("schema", f"{version}.json").read_text())
        compared = ours.keys() & listed.keys()
        assert {table: [name for name, *_ in ours[table]] for table in compared} == {
            table: listed[table] for table in compared
        }


def rows_by_enumeration(path: Path) -> dict[str, set[tuple[int, str, str]]]:
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as connection:
        tables = [table for table in columns_by_table(path) if table.startswith("ENUM_")]
        return {table: set(connection.execute(f"SELECT * FROM {table}")) for table in tables}


@SCHEMAS
def test_enumerations_say_what_real_ones_say(schema: str, tmp_path: Path) -> None:
    ours = rows_by_enumeration(write_every_table(schema, tmp_path))
    real = rows_by_enumeration(shared_file("traces", f"{OS_EXPORT}.sqlite"))
    real |= rows_by_enumeration(shared_file("traces", f"{REAL_EXPORTS[schema][0]}.sqlite"))

    assert ours
    for table, rows in ours.items():
        assert rows
        assert rows <= real[table]


@SCHEMAS
def test_the_export_names_its_release_as_nsys_does(schema: str, tmp_path: Path) -> None:
    paths = write_every_table(schema, tmp_path), shared_file("traces", f"{REAL_EXPORTS[schema][0]}.sqlite")
    settings = []
    for path in paths:
        with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as connection:
            settings.append(dict(connection.execute("SELECT name, value FROM META_DATA_EXPORT")))
    ours, real = settings

    named = [name for name in real if name.startswith(("EXPORT_PRODUCT", "EXPORT_SCHEMA_VERSION")) if name in ours]
    assert {name: ours[name] for name in named} == {name: real[name] for name in named}
    assert ours.keys() - real.keys() == {"SYNTHESIZED_BY"}


@pytest.mark.nsys
def test_columns_are_those_that_nsys_exports_when_told_to_make_every_table(tmp_path: Path) -> None:
    nsys = find_nsys()
    if "2023.4.4" not in subprocess.run([nsys, "--version"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("only nsys 2023.4.4 exports schema 3.7.2")
    report = str(profile_ranges(tmp_path, sys.executable, "-c", ""))
    export = [nsys, "export", "-q", "true", "--lazy=false", "-t", "sqlite", "-o", str(tmp_path / "real.sqlite"), report]
    subprocess.run(export, capture_output=True, check=True)

    ours = columns_by_table(write_every_table("3.7", tmp_path))
    real = columns_by_table(tmp_path / "real.sqlite")

    assert ours == {table: real[table] for table in ours}
