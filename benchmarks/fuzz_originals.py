"""One little run in every form that nsysan reads, for ``fuzz_readers.py`` to damage."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from nsysan.synth.export import Export

STEPS = 150


def make_originals(folder: Path) -> None:
    """One run in every form that is read; as folders only where pyarrow is installed."""
    folder.mkdir()
    for schema in ("3.7", "3.25"):
        export = Export(schema).gpu().host("node1").nvtx_domain(1, "NCCL")
        for step in range(STEPS):
            export.kernel(step * 10, step * 10 + 5, f"kernel {step % 7}").copy(step, step + 1, 8)
            export.memset(step, step + 1, 8).nvtx(step, step + 1, f"step {step}")
            export.nvtx(step, None, "load", registered=True)
        export.write(folder / f"export{schema.replace('.', '-')}.sqlite")
    trace = _torch_trace()
    (folder / "torch.pt.trace.json").write_text(trace)
    (folder / "torch.pt.trace.json.gz").write_bytes(gzip.compress(trace.encode(), mtime=0))
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        print("pyarrow is not installed: folders of tables are left out")
        return
    for name, table in _arrow_tables(folder / "export3-25.sqlite", pa).items():
        for form in ("parquet", "arrow"):
            (folder / form).mkdir(exist_ok=True)
        pq.write_table(table, folder / "parquet" / f"{name}.parquet", row_group_size=64)
        path = str(folder / "arrow" / f"{name}.arrow")
        with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, 64)


def _arrow_tables(export: Path, pa: Any) -> dict[str, Any]:
    tables = {}
    with closing(sqlite3.connect(export)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'ENUM%'").fetchall():
            columns = [column for _, column, *_ in connection.execute(f'PRAGMA table_info("{name}")')]
            stored = connection.execute(f'SELECT * FROM "{name}"').fetchall()  # noqa: S608 -- our own tables
            values = list(zip(*stored, strict=True)) or [()] * len(columns)
            tables[name] = pa.table([pa.array(list(column)) for column in values], names=columns)
    return tables


def _torch_trace() -> str:
    """A trace of PyTorch's profiler with every kind of event that is read."""
    header = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "GPU", "numSms": 132}],
        "distributedInfo": {"rank": 0, "world_size": 2, "pg_config": [{"pg_name": "0", "pg_size": 2, "ranks": [0, 1]}]},
        "baseTimeNanoseconds": 1_700_000_000_000_000_000,
    }
    label = {"ph": "M", "name": "process_labels", "pid": 42, "args": {"labels": "CPU"}}
    events = [label, *(event for step in range(STEPS) for event in _torch_events(step))]
    return json.dumps(header | {"traceEvents": events})


def _torch_events(step: int) -> Iterator[dict[str, Any]]:
    launch = {"correlation": step}
    gpu = {"device": 0, "context": 1, "stream": 7, **launch}
    collective = {"Collective name": "allreduce", "In msg nelems": 8, "Out msg nelems": 8, "dtype": "Float"}
    group = {"Group size": 2, "Process Group Name": "0", "Input Dims": [[8], [2, 4]]}
    kinds: list[tuple[str, str, int, dict[str, Any]]] = [
        ("kernel", f"kernel {step % 7}", 0, gpu),
        ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, gpu | {"bytes": 8}),
        ("gpu_memset", "Memset (Device)", 0, gpu | {"bytes": 8}),
        ("cuda_runtime", "cudaLaunchKernel", 42, launch),
        ("cpu_op", "record_param_comms", 42, collective | group),
        ("user_annotation", f"step {step}", 42, {}),
    ]
    for kind, name, pid, arguments in kinds:
        where = {"ph": "X", "cat": kind, "name": name, "pid": pid, "tid": pid}
        yield {**where, "ts": step + 0.125, "dur": 1, "args": arguments}
