"""Random damage for some CPU minutes: every input must end in a trace or in one sentence, never in anything else.

Each case is determined by the seed and its number, so that ``--only`` repeats one. The cases run in a second process:
one that ends, hangs or takes too much memory there is a failure like a traceback. Each input is read as by ``analyze``
and surveyed as by ``info``. A file that was cut must not read as a trace that differs from the whole one's.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import random
import re
import resource
import selectors
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from fuzz_originals import make_originals

from nsysan.ingest.reading import ReadOptions, read_trace, survey_report
from nsysan.model.errors import NsysanError
from nsysan.model.trace import Trace

Answer = TypeVar("Answer")

HANG_S = 10
"""In CPU time."""
BLOCKED_S = 300
"""In time of day, on a machine that may do much else."""
MEMORY_BYTES = 6 << 30
REPORT_NAME = "report.nsys-rep"
REPORT_SHARE = 0.02
"""An export by nsys takes fifty times as long as reading any other input."""
VALUES_SHARE = 0.4
DROPPED_SHARE = 0.2
ODD_VALUES = ("NULL", "'text'", "x'ff00'", "1e308", "-1", "9223372036854775807", "-9223372036854775808", "0", "''")
ODD_JSON = (
    "null",
    '"text"',
    "[]",
    "{}",
    "[[1], [2]]",
    "true",
    "1e308",
    "-1",
    "0",
    "0.0005",
    "9" * 30,
    "NaN",
    '"\\ud800"',
)
JSON_VALUE = re.compile(r'(?<=": )(?:"[^"]*"|-?[0-9.]+)')


def main() -> int:
    """1 where a case failed; prints a table of outcomes, and each failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="for so much CPU time (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="other numbers make other cases")
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--report", type=Path, help="also damage this .nsys-rep, if there is an nsys")
    parser.add_argument("--only", type=int, help="repeat this one case, in this process")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--cpu-s", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.worker or Path(name)
        if options.worker is not None:
            work(folder, options.seed, options.first, options.cpu_s)
            return 0
        make_originals(folder / "originals")
        if options.report is not None:
            shutil.copyfile(options.report, folder / "originals" / REPORT_NAME)
        if options.only is not None:
            print(run_case(folder, options.seed, options.only))
            return 0
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        outcomes, failures = supervise(folder, options.seed, 60 * options.minutes)
    print_table(outcomes, failures, _spent_s() / 60)
    return 1 if failures else 0


def supervise(folder: Path, seed: int, cpu_s: float) -> tuple[collections.Counter[str], list[str]]:
    """How often each outcome was met, and what failed, until the CPU time is spent or somebody asks for the end."""
    outcomes: collections.Counter[str] = collections.Counter()
    failures: list[str] = []
    command = [sys.executable, __file__, "--worker", str(folder), "--seed", str(seed)]
    with contextlib.suppress(KeyboardInterrupt):
        while (left_s := cpu_s - _spent_s()) > 0:
            number = outcomes.total() + sum("the process" in failure for failure in failures)
            last = _run_worker([*command, "--first", str(number), "--cpu-s", str(left_s)], (outcomes, failures))
            if last is not None:
                failures.append(last)
    return outcomes, failures


def _run_worker(command: list[str], found: tuple[collections.Counter[str], list[str]]) -> str | None:
    """How the worker failed, None where its time was over."""
    outcomes, failures = found
    number = int(command[command.index("--first") + 1])
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as worker:
        try:
            for outcome in _lines(worker):
                outcomes[outcome.partition(" | ")[0]] += 1
                if "FAILURE" in outcome:
                    failures.append(f"case {number}: {outcome}")
                number += 1
            end = _end_of(worker)
        except KeyboardInterrupt:
            worker.kill()
            raise
    return None if end is None else f"case {number}: the process {end}"


def _spent_s() -> float:
    """The CPU time of the workers that have ended, with that of every nsys they started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _end_of(worker: subprocess.Popen[bytes]) -> str | None:
    """How the worker failed, None where its time was over."""
    try:
        code = worker.wait(1)
    except subprocess.TimeoutExpired:
        worker.kill()
        return f"was blocked for {BLOCKED_S} s"
    if code == -signal.SIGPROF:
        return f"took over {HANG_S} s of CPU time"
    return f"ended with {code}" if code else None


def _lines(worker: subprocess.Popen[bytes]) -> Iterator[str]:
    """What the worker prints, line by line, until it ends or is blocked."""
    assert worker.stdout is not None
    rest = b""
    with selectors.DefaultSelector() as ready:
        ready.register(worker.stdout, selectors.EVENT_READ)
        while ready.select(BLOCKED_S):
            printed = os.read(worker.stdout.fileno(), 1 << 16)
            if not printed:
                return
            *lines, rest = (rest + printed).split(b"\n")
            yield from (line.decode() for line in lines)


def work(folder: Path, seed: int, first: int, cpu_s: float) -> None:
    """Run case after case, one line of output each, until the CPU time is spent."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    number = first
    while sum(os.times()[:4]) < cpu_s:
        # the signal ends this process: nothing in it can catch that
        signal.setitimer(signal.ITIMER_PROF, HANG_S)
        print(run_case(folder, seed, number), flush=True)
        number += 1


def run_case(folder: Path, seed: int, number: int) -> str:
    """What became of the case: the form, the damage, and the outcome."""
    chance = random.Random(f"{seed} {number}")
    originals = {path.name: path for path in sorted((folder / "originals").iterdir())}
    report = originals.pop(REPORT_NAME, None)
    original = chance.choice(list(originals.values()))
    if report is not None and chance.random() < REPORT_SHARE:
        original = report
    damaged = folder / "damaged"
    shutil.rmtree(damaged, ignore_errors=True)
    damaged.mkdir()
    path = damaged / original.name
    if original.is_dir():
        shutil.copytree(original, path)
    else:
        shutil.copyfile(original, path)
    damage = _damage(path, chance)
    form = original.name.partition(".")[2] if original.is_file() else original.name
    return f"{form}, {damage}: {_outcome(path, original, damage)}"


def _outcome(path: Path, original: Path, damage: str) -> str:
    trace, failure = _tried(read_trace, path)
    contents, survey_failure = _tried(survey_report, path)
    if trace is not None and damage == "cut" and _records(trace) != _records(read_trace(original, ReadOptions())):
        failure = "a silent difference"
    if failure or survey_failure:
        return f"FAILURE | {failure or survey_failure}"
    return f"{'refused' if trace is None else 'read'} and {'not told' if contents is None else 'told'}"


def _tried(read: Callable[[Path, ReadOptions], Answer], path: Path) -> tuple[Answer | None, str]:
    """The answer, None where the input is refused; and how it failed where it ended in anything else."""
    try:
        return read(path, ReadOptions()), ""
    except NsysanError:
        return None, ""
    except BaseException:  # noqa: BLE001 -- whatever it is, it is what we are looking for
        return None, " / ".join(traceback.format_exc().splitlines()[-6:])


def _records(trace: Trace) -> list[list[list[int]]]:
    tables = (trace.kernels, trace.copies, trace.memsets, trace.nvtx_ranges)
    return [[column.tolist() for column in table.columns().values()] for table in tables if table is not None]


def _damage(path: Path, chance: random.Random) -> str:
    """Damage the file, or one file of the folder, and answer how."""
    if path.is_dir():
        path = chance.choice(sorted(path.iterdir()))
    if path.suffix in {".sqlite", ".json"} and chance.random() < VALUES_SHARE:
        _damage_json(path, chance) if path.suffix == ".json" else _damage_values(path, chance)
        return "values"
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


def _damage_json(path: Path, chance: random.Random) -> None:
    """Change values of a text that stays JSON."""
    text = path.read_text()
    changed = chance.sample(list(JSON_VALUE.finditer(text)), chance.randrange(1, 4))
    # from the last to the first, so that places stay what they are
    for value in sorted(changed, key=re.Match.start, reverse=True):
        text = text[: value.start()] + chance.choice(ODD_JSON) + text[value.end() :]
    path.write_text(text)


def _damage_values(path: Path, chance: random.Random) -> None:
    """Change values, columns or tables of a database that stays sound."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master ORDER BY name")]
        for _ in range(chance.randrange(1, 4)):
            table = chance.choice([name for name in tables if not name.startswith("ENUM")])
            columns = [column for _, column, *_ in connection.execute(f'PRAGMA table_info("{table}")')]
            _change(connection, table, chance.choice(columns), chance)


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
    print(f"{outcomes.total():,} cases in {minutes:.1f} CPU minutes, {len(failures)} failures")
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:>8,}  {outcome}")
    for failure in failures:
        print(failure)


if __name__ == "__main__":
    sys.exit(main())
