"""Random damage for a number of minutes: every input must end in a trace or in one sentence, never in anything else.

Each case is determined by the seed and its number, so that ``--only`` repeats one. The cases run in a second process:
one that ends, hangs or takes too much memory there is a failure like a traceback. A file that was cut must not read as
a trace that differs from the whole one's.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import resource
import selectors
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.errors import NsysanError
from nsysan.model.trace import Trace
from nsysan.synth.export import Export

HANG_S = 60
MEMORY_BYTES = 6 << 30
STEPS = 150
VALUES_SHARE = 0.4
DROPPED_SHARE = 0.2
ODD_VALUES = ("NULL", "'text'", "x'ff00'", "1e308", "-1", "9223372036854775807", "-9223372036854775808", "0", "''")


def main() -> int:
    """1 where a case failed; prints a table of outcomes, and each failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="for so long (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="other numbers make other cases")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--report", type=Path, help="also damage this .nsys-rep, if there is an nsys")
    parser.add_argument("--only", type=int, help="repeat this one case, in this process")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.worker or Path(name)
        if options.worker is not None:
            work(folder, options.seed, options.first)
        make_originals(folder / "originals")
        if options.report is not None:
            shutil.copyfile(options.report, folder / "originals" / "report.nsys-rep")
        if options.only is not None:
            print(run_case(folder, options.seed, options.only))
            return 0
        outcomes, failures = supervise(folder, options.seed, 60 * options.minutes)
    print_table(outcomes, failures, options.minutes)
    return 1 if failures else 0


def make_originals(folder: Path) -> None:
    """One run in every form that is read; as folders only where pyarrow is installed."""
    folder.mkdir()
    for schema in ("3.7", "3.25"):
        export = Export(schema).gpu().host("node1").nvtx_domain(1, "NCCL")
        for step in range(STEPS):
            export.kernel(step * 10, step * 10 + 5, f"kernel {step % 7}").copy(step, step + 1, 8)
            export.memset(step, step + 1, 8).nvtx(step, step + 1, f"step {step}")
            export.nvtx(step, None, "load", registered=True)
        export.write(folder / f"export {schema}.sqlite")
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        print("pyarrow is not installed: folders of tables are left out")
        return
    for name, table in _arrow_tables(folder / "export 3.25.sqlite", pa).items():
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


def supervise(folder: Path, seed: int, seconds: float) -> tuple[collections.Counter[str], list[str]]:
    """How often each outcome was met, and what failed, until the time is over."""
    outcomes: collections.Counter[str] = collections.Counter()
    failures: list[str] = []
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        number = _run_worker(folder, (seed, number), end, (outcomes, failures))
    return outcomes, failures


def _run_worker(
    folder: Path, case: tuple[int, int], end: float, found: tuple[collections.Counter[str], list[str]]
) -> int:
    """The number of the next case, after a worker has ended with the time or on a failure."""
    (seed, number), (outcomes, failures) = case, found
    command = [sys.executable, __file__, "--worker", str(folder), "--seed", str(seed), "--first", str(number)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as worker:
        for outcome in _lines(worker, end):
            outcomes[outcome.partition(" | ")[0]] += 1
            if "FAILURE" in outcome:
                failures.append(f"case {number}: {outcome}")
            number += 1
        if time.monotonic() < end:
            why = f"hung for {HANG_S} s" if worker.poll() is None else f"ended with {worker.returncode}"
            failures.append(f"case {number}: the process {why}")
            number += 1
        worker.kill()
    return number


def _lines(worker: subprocess.Popen[bytes], end: float) -> Iterator[str]:
    """What the worker prints, line by line, until the time is over, it ends or it hangs."""
    assert worker.stdout is not None
    rest = b""
    with selectors.DefaultSelector() as ready:
        ready.register(worker.stdout, selectors.EVENT_READ)
        while time.monotonic() < end and ready.select(HANG_S):
            printed = os.read(worker.stdout.fileno(), 1 << 16)
            if not printed:
                return
            *lines, rest = (rest + printed).split(b"\n")
            yield from (line.decode() for line in lines)


def work(folder: Path, seed: int, first: int) -> None:
    """Run case after case, one line of output each, without end."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    number = first
    while True:
        print(run_case(folder, seed, number), flush=True)
        number += 1


def run_case(folder: Path, seed: int, number: int) -> str:
    """What became of the case: the form, the damage, and the outcome."""
    chance = random.Random(f"{seed} {number}")  # noqa: S311 -- the same damage every time, not a secret
    original = chance.choice(sorted((folder / "originals").iterdir()))
    damaged = folder / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    damaged.mkdir()
    path = damaged / original.name
    if original.is_dir():
        shutil.copytree(original, path)
    else:
        shutil.copyfile(original, path)
    damage = _damage(path, chance)
    form = original.suffix.lstrip(".") or original.name
    return f"{form}, {damage}: {_outcome(path, original, damage)}"


def _outcome(path: Path, original: Path, damage: str) -> str:
    try:
        trace = read_trace(path, ReadOptions())
    except NsysanError:
        return "refused"
    except BaseException:  # noqa: BLE001 -- whatever it is, it is what we are looking for
        return "FAILURE | " + " / ".join(traceback.format_exc().splitlines()[-6:])
    if damage == "cut" and _records(trace) != _records(read_trace(original, ReadOptions())):
        return "FAILURE | a silent difference"
    return "read"


def _records(trace: Trace) -> list[list[list[int]]]:
    tables = (trace.kernels, trace.copies, trace.memsets, trace.nvtx_ranges)
    return [[column.tolist() for column in table.columns().values()] for table in tables if table is not None]


def _damage(path: Path, chance: random.Random) -> str:
    """Damage the file, or one file of the folder, and answer how."""
    if path.is_dir():
        path = chance.choice(sorted(path.iterdir()))
    if path.suffix == ".sqlite" and chance.random() < VALUES_SHARE:
        return _damage_values(path, chance)
    content = bytearray(path.read_bytes())
    kind = chance.choice(("flipped", "overwritten", "zeroed", "cut", "shifted", "repeated"))
    begin = chance.randrange(len(content))
    length = min(chance.choice((1, 2, 4, 8, 64, 512, 4096)), len(content) - begin)
    if kind == "flipped":
        for _ in range(chance.randrange(1, 9)):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del content[begin:]
    elif kind == "shifted":
        content[begin:begin] = chance.randbytes(length)
    elif kind == "repeated":
        content[begin:begin] = content[begin : begin + length]
    else:
        content[begin : begin + length] = bytes(length) if kind == "zeroed" else chance.randbytes(length)
    path.write_bytes(content)
    return kind


def _damage_values(path: Path, chance: random.Random) -> str:
    """Change values, columns or tables of a database that stays sound."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master ORDER BY name")]
        for _ in range(chance.randrange(1, 4)):
            table = chance.choice([name for name in tables if not name.startswith("ENUM")])
            columns = [column for _, column, *_ in connection.execute(f'PRAGMA table_info("{table}")')]
            _change(connection, table, chance.choice(columns), chance)
    return "values"


def _change(connection: sqlite3.Connection, table: str, column: str, chance: random.Random) -> None:
    connection.execute("DROP TABLE IF EXISTS loose")
    connection.execute(f'CREATE TABLE loose AS SELECT * FROM "{table}"')  # noqa: S608 -- our own tables
    connection.execute(f'DROP TABLE "{table}"')
    connection.execute(f'ALTER TABLE loose RENAME TO "{table}"')
    is_last = len(connection.execute(f'PRAGMA table_info("{table}")').fetchall()) == 1
    if chance.random() < DROPPED_SHARE and not is_last:
        connection.execute(f'ALTER TABLE "{table}" DROP COLUMN "{column}"')
        return
    value, part = chance.choice(ODD_VALUES), chance.choice((1, 2, 7))
    connection.execute(f'UPDATE "{table}" SET "{column}" = {value} WHERE rowid % {part} = 0')  # noqa: S608 -- our own values


def print_table(outcomes: collections.Counter[str], failures: list[str], minutes: float) -> None:
    """One line for each form, damage and outcome, then the failures."""
    print(f"{outcomes.total():,} cases in {minutes:g} minutes, {len(failures)} failures")
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:>8,}  {outcome}")
    for failure in failures:
        print(failure)


if __name__ == "__main__":
    sys.exit(main())
