"""CPU seconds to read fourteen columns of a kernel table: the compiled module beside sqlite3, pandas and a plain read.

Each contender runs in a process of its own, in turn, on the same file, so that the ratios hold on any machine; the
seconds do not. Only the reading is timed, not the imports.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from nsysan.ingest.columns import Column, ColumnRead, Need
from nsysan.ingest.source import StoredTable
from nsysan.synth.export import Export

TABLE = "CUPTI_ACTIVITY_KIND_KERNEL"
NAMES = (
    *("start", "end", "deviceId", "globalPid", "contextId", "streamId", "correlationId"),
    *("demangledName", "shortName", "registersPerThread", "gridX", "blockX"),
    *("staticSharedMemory", "dynamicSharedMemory"),
)
REQUIRED_COUNT = 4
COLUMNS = tuple(
    Column(name, (name,), Need.REQUIRED if index < REQUIRED_COUNT else Need.OPTIONAL)
    for index, name in enumerate(NAMES)
)
GPU_COUNT = 8
NAME_COUNT = 500
BLOCK_ROWS = 1 << 14
CHUNK_BYTES = 1 << 20


def main() -> None:
    """Print the table for the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=1_000_000, help="kernels in the table (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="the median of so many rounds counts")
    parser.add_argument("--without", nargs="*", default=[], choices=CONTENDERS, help="leave these out")
    parser.add_argument("--contender", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help="read this export, instead of one that is made")
    options = parser.parse_args()
    if options.contender is not None:
        print(json.dumps(measure(options.contender, options.file)))
        return
    chosen = [name for name in CONTENDERS if name not in options.without]
    with tempfile.TemporaryDirectory() as folder:
        export = options.file or write_table(Path(folder) / "kernels.sqlite", options.kernels)
        print(f"{NAMES[0]} and {len(NAMES) - 1} more columns, {export.stat().st_size / 1e6:.1f} MB")
        print_table({name: samples for name, samples in run(export, chosen, options.rounds).items() if samples})


def write_table(path: Path, kernel_count: int) -> Path:
    """An export whose kernel table has so many rows; a kernel's shape goes with its name, as in real ones."""
    export = Export()
    for gpu in range(GPU_COUNT):
        export.gpu(gpu)
    export.kernel(0, 1, "kernel").write(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        found = connection.execute(f"SELECT * FROM {TABLE}")  # noqa: S608 -- a constant
        template = dict(zip((name for name, *_ in found.description), found.fetchone(), strict=True))
        connection.execute(f"DELETE FROM {TABLE}")  # noqa: S608 -- a constant
        insert = f"INSERT INTO {TABLE} VALUES ({', '.join('?' * len(template))})"  # noqa: S608 -- a constant
        connection.executemany(insert, (tuple((template | row).values()) for row in kernels(kernel_count)))
    return path


def kernels(count: int) -> Iterator[dict[str, int]]:
    """Rows of kernels, dealt to eight processes with a GPU each, as the columns in which they differ."""
    chance = random.Random(0)
    shapes = [
        {
            "demangledName": 2 + index,
            "shortName": 600 + index,
            "registersPerThread": chance.randrange(16, 256),
            "gridX": chance.choice((1, 128, 1024, 70_000)),
            "blockX": chance.choice((32, 128, 256, 1024)),
            "streamId": chance.choice((7, 7, 7, 20, 21)),
            "dynamicSharedMemory": chance.choice((0, 0, 1024, 65_536)),
        }
        for index in range(NAME_COUNT)
    ]
    now_ns = [0] * GPU_COUNT
    for number in range(count):
        gpu = number % GPU_COUNT
        start_ns = now_ns[gpu] + chance.randrange(4_000)
        now_ns[gpu] = start_ns + chance.randrange(2_000, 60_000)
        place = {"deviceId": gpu, "globalPid": (1000 + gpu) << 24, "correlationId": number // GPU_COUNT + 1}
        yield {"start": start_ns, "end": now_ns[gpu]} | place | chance.choice(shapes)


def run(export: Path, chosen: list[str], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """CPU seconds and peak memory in MB of each contender, taken in turn."""
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in chosen}
    for _ in range(rounds):
        for name in chosen:
            command = [sys.executable, __file__, "--file", str(export), "--contender", name]
            printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            cpu_s, memory_mb = json.loads(printed)
            samples[name].append((cpu_s, memory_mb))
    return samples


def measure(contender: str, export: Path) -> tuple[float, float]:
    """CPU seconds of reading, and the peak memory of this process in MB."""
    read, imported = CONTENDERS[contender]
    importlib.import_module(imported)
    read_plainly(export)  # into the page cache
    begin_s = time.process_time()
    result = read(export)
    cpu_s = time.process_time() - begin_s
    del result
    return cpu_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def read_plainly(export: Path) -> None:
    """Every byte of the file, and nothing else."""
    buffer = bytearray(CHUNK_BYTES)
    with export.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def read_from_pages(export: Path) -> ColumnRead:
    """Whole columns by the compiled module, with what is freed kept, as ``nsysan analyze`` does it."""
    from nsysan.ingest.sqlite import page_columns
    from nsysan.model.progress import UNWATCHED
    from nsysan.pipeline.freed_memory import keep_freed_memory

    keep_freed_memory()
    with closing(sqlite3.connect(export)) as connection:
        read = page_columns.read_columns(
            connection, _table(connection), COLUMNS, None, id_of_text=len, progress=UNWATCHED
        )
    assert read is not None, "the module was not compiled, or hands over"
    return read


def read_in_blocks(export: Path) -> int:
    """Blocks of columns by the compiled module, none of them kept."""
    from nsysan.ingest.sqlite import page_columns
    from nsysan.ingest.sqlite.row_storage import row_storage

    with closing(sqlite3.connect(export)) as connection:
        storage = row_storage(connection, TABLE, set(NAMES))
    assert storage is not None
    scan = page_columns.open_scan(storage, COLUMNS, None, len)
    row_count = 0
    while (block := scan.read(BLOCK_ROWS)) is not None:
        row_count += len(block[0])
    return row_count


def ask_sqlite(export: Path) -> ColumnRead:
    """Whole columns as nsysan reads them without the module."""
    from nsysan.ingest.sqlite import queried_columns

    with closing(sqlite3.connect(export)) as connection:
        return queried_columns.read_columns(connection, _table(connection), COLUMNS, None)


def ask_pandas(export: Path) -> object:
    """A frame of the columns."""
    import pandas as pd

    selected = ", ".join(f'"{name}"' for name in NAMES)
    with closing(sqlite3.connect(export)) as connection:
        return pd.read_sql(f"SELECT {selected} FROM {TABLE}", connection)  # noqa: S608 -- constants


def _table(connection: sqlite3.Connection) -> StoredTable:
    from nsysan.ingest.sqlite.tables import tables_among

    return tables_among(connection, [TABLE])[TABLE]


READERS = "nsysan.ingest.sqlite.tables"
CONTENDERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "plain read of the file": (read_plainly, "io"),
    "compiled module, whole columns": (read_from_pages, READERS),
    "compiled module, blocks": (read_in_blocks, READERS),
    "sqlite3, whole columns": (ask_sqlite, READERS),
    "pandas.read_sql": (ask_pandas, "pandas"),
}
"""What each contender does, and what it imports for that."""


def print_table(samples_of: dict[str, list[tuple[float, float]]]) -> None:
    """One line a contender: median CPU seconds, how many times the first's, and peak memory."""
    medians = {name: statistics.median(cpu_s for cpu_s, _ in samples) for name, samples in samples_of.items()}
    plain_s = next(iter(medians.values()))
    print(f"{'':<32}{'CPU s':>10}{'x plain':>10}{'peak MB':>10}")
    for name, cpu_s in medians.items():
        memory_mb = max(memory_mb for _, memory_mb in samples_of[name])
        print(f"{name:<32}{cpu_s:>10.3f}{cpu_s / plain_s:>10.1f}{memory_mb:>10.0f}")


if __name__ == "__main__":
    main()
