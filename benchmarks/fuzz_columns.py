"""Random damage to SQLite files: the compiled module must hand over or answer as SQLite does, and never crash.

The module is compiled anew with AddressSanitizer and UndefinedBehaviorSanitizer (g++) and loaded into a process of its
own, which ends with the first report of either. Each case is determined by the seed and its number, so that ``--only``
repeats one.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import os
import random
import sqlite3
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from nsysan.ingest.columns import Column, ColumnRead, InlineTexts, Need, Scope
from nsysan.ingest.source import StoredTable
from nsysan.model.errors import InputError

MODULE = "nsysan.ingest._columns"
SOURCES = sorted((Path(__file__).parents[1] / "csrc" / "columns").glob("*.cpp"))
COMPILER = "g++"
SANITIZERS = "address,undefined"
SEED_COUNT = 40
HEADER_BYTES = 100
PAGE_BYTES = (512, 512, 1024, 4096, 8192, 65_536)
COLUMNS = (
    Column("start", ("a",), Need.REQUIRED),
    Column("end", ("b",), Need.OPEN),
    Column("place", ("c", "id"), Need.OPTIONAL),
    Column("name", ("d", "c"), Need.OPTIONAL, inline_text="t"),
    # one that stays wide, and two that are kept as places among their values
    Column("moment_ns", ("c", "a"), Need.OPTIONAL),
    Column("global_tid", ("e", "b"), Need.OPTIONAL),
    Column("name_id", ("e",), Need.OPTIONAL, inline_text="t"),
)
NAMES = ("a", "b", "c", "d", "e", "id", "t", "more", "rest")
SCOPES = (None, Scope("e", (0, 1, 70)))

Outcome = tuple[str, ColumnRead | None, dict[int, str]]


def main() -> int:
    """1 where a case failed; prints how many ended how, and each failure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu-minutes", type=float, default=1.0, help="for so long (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="other numbers make other cases")
    parser.add_argument("--only", type=int, help="repeat this one case")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        work(options.worker, options.seed, options.first, only=options.only)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compile_module(folder)
        if options.only is not None:
            return run_worker(folder, options.seed, options.only, only=True).returncode
        outcomes, failures = supervise(folder, options.seed, 60 * options.cpu_minutes)
    print(f"{outcomes.total():,} cases in {options.cpu_minutes:g} CPU minutes, {len(failures)} failures")
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:>10,}  {outcome}")
    print(*failures, sep="\n")
    return 1 if failures else 0


def compile_module(folder: Path) -> None:
    """The module with both sanitizers in it, into ``folder``."""
    import pybind11

    command = [COMPILER, "-std=c++17", "-O1", "-g1", "-fPIC", "-shared", "-fvisibility=hidden"]
    command += [f"-fsanitize={SANITIZERS}", "-fno-sanitize-recover=all", "-D_GLIBCXX_ASSERTIONS"]
    command += [f"-I{pybind11.get_include()}", f"-I{sysconfig.get_path('include')}"]
    subprocess.run([*command, *map(str, SOURCES), "-o", str(folder / "module.so")], check=True)


def supervise(folder: Path, seed: int, cpu_s: float) -> tuple[collections.Counter[str], list[str]]:
    """How many cases ended how, and the failures, over processes that use ``cpu_s`` together."""
    outcomes: collections.Counter[str] = collections.Counter()
    failures: list[str] = []
    first = 0
    begin_s = children_cpu_s()
    while (left_s := cpu_s - (children_cpu_s() - begin_s)) > 0:
        (folder / "cpu_s").write_text(str(left_s))
        finished = run_worker(folder, seed, first)
        done, counts, found = json.loads((folder / "progress.json").read_text())
        outcomes.update(counts)
        failures += found
        first = done + 1
        if finished.returncode != 0:
            failures.append(f"case {done}: ended with {finished.returncode}\n{finished.stderr}")
            first += 1
    return outcomes, failures


def children_cpu_s() -> float:
    """CPU seconds of all processes that have ended here."""
    times = os.times()
    return times.children_user + times.children_system


def run_worker(folder: Path, seed: int, first: int, *, only: bool = False) -> subprocess.CompletedProcess[str]:
    """One process with the sanitizers, from case ``first`` on."""
    libraries = [
        subprocess.run(
            [COMPILER, f"-print-file-name={name}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    command = [sys.executable, __file__, "--worker", str(folder), "--seed", str(seed), "--first", str(first)]
    return subprocess.run(
        [*command, "--only", str(first)] if only else command,
        check=False,
        stderr=None if only else subprocess.PIPE,
        text=True,
        # the interpreter itself leaks on purpose
        env={**os.environ, "LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0"},
    )


def work(folder: Path, seed: int, first: int, *, only: int | None) -> None:
    """Run cases until the time is over; what came out is in ``progress.json`` before each case that could crash."""
    load_module(folder / "module.so")
    originals = [make_original(folder / "original.sqlite", random.Random(number)) for number in range(SEED_COUNT)]
    if only is not None:
        print(run_case(folder / "case.sqlite", originals, random.Random(f"{seed}/{only}")))
        return
    outcomes: collections.Counter[str] = collections.Counter()
    failures: list[str] = []
    end_s = time.process_time() + float((folder / "cpu_s").read_text())
    case = first
    while time.process_time() < end_s:
        (folder / "progress.json").write_text(json.dumps([case - 1, outcomes, failures]))
        outcome = run_case(folder / "case.sqlite", originals, random.Random(f"{seed}/{case}"))
        if outcome.startswith("DIFFERS"):
            failures.append(f"case {case}: {outcome}")
        outcomes[outcome.partition(":")[0]] += 1
        case += 1
    (folder / "progress.json").write_text(json.dumps([case - 1, outcomes, failures]))


def load_module(path: Path) -> None:
    """Make nsysan use the module at ``path`` as its own."""
    import nsysan.ingest

    spec = importlib.util.spec_from_file_location(MODULE, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[MODULE] = module
    setattr(nsysan.ingest, MODULE.rpartition(".")[2], module)


def make_original(path: Path, chance: random.Random) -> bytes:
    """A sound database with one table whose rows are read, and another among its pages."""
    path.unlink(missing_ok=True)
    page_bytes = chance.choice(PAGE_BYTES)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size={page_bytes}")
        connection.execute(f"PRAGMA encoding='{chance.choice(('UTF-8', 'UTF-8', 'UTF-16le', 'UTF-16be'))}'")
        connection.execute(f"PRAGMA auto_vacuum={chance.choice((0, 0, 1))}")
        _reserve(connection, path, chance.choice((0, 0, 32)))
        _fill(connection, chance)
        if chance.random() < 1 / 4:
            connection.execute("VACUUM")
    return path.read_bytes()


def _reserve(connection: sqlite3.Connection, path: Path, reserved_bytes: int) -> None:
    """Reserve bytes at the end of every page of a database that holds nothing yet."""
    connection.execute("CREATE TABLE first (x)")
    connection.execute("DROP TABLE first")
    if reserved_bytes == 0:
        return
    connection.execute("VACUUM")
    content = bytearray(path.read_bytes())
    page_bytes = int.from_bytes(content[16:18], "big")
    if page_bytes == 1:
        return
    content[20] = reserved_bytes
    content[105:107] = (page_bytes - reserved_bytes).to_bytes(2, "big")
    path.write_bytes(content)


def _fill(connection: sqlite3.Connection, chance: random.Random) -> None:
    names = chance.sample(NAMES, len(NAMES))
    kinds = {"id": chance.choice(("INTEGER PRIMARY KEY", "INTEGER")), "t": "TEXT"}
    declared = ", ".join(f"{name} {kinds.get(name, 'INTEGER')}" for name in names)
    connection.execute(f"CREATE TABLE wanted ({declared})")
    connection.execute("CREATE TABLE other (x)")
    odd_frac, long_texts = chance.choice((0.0, 0.0, 0.02)), chance.random() < 1 / 2
    connection.execute("BEGIN")
    for _ in range(chance.choice((0, 1, 5, 60, 400))):
        values = [_value(name, chance, odd_frac=odd_frac, long_texts=long_texts) for name in names]
        connection.execute(f"INSERT OR REPLACE INTO wanted VALUES ({', '.join('?' * len(names))})", values)  # noqa: S608 -- our own
        if chance.random() < 1 / 8:
            connection.execute("INSERT INTO other VALUES (?)", (chance.randbytes(chance.randrange(600)),))
    connection.execute("COMMIT")
    if chance.random() < 1 / 3:
        connection.execute("DELETE FROM wanted WHERE a % 3 = 0")
    if chance.random() < 1 / 3:
        connection.execute(f"ALTER TABLE wanted ADD COLUMN late{chance.choice(('', ' DEFAULT 5'))}")


def _value(name: str, chance: random.Random, *, odd_frac: float, long_texts: bool) -> int | float | str | bytes | None:
    if name == "t":
        length = chance.choice((0, 3, 40, 3000)) if long_texts else chance.randrange(12)
        return chance.choice((None, chance.choice("xyé") * length, chance.randbytes(length)))
    if name == "id":
        return chance.choice((None, chance.randrange(-(1 << 63), 1 << 63)))
    if chance.random() < odd_frac:
        return chance.choice((None, 1.5, 2.0, "text", b"blob", "12"))
    return chance.choice((0, 1, 70, chance.randrange(-(1 << chance.choice((8, 16, 24, 32, 47, 63))), 1 << 62)))


def run_case(path: Path, originals: list[bytes], chance: random.Random) -> str:
    """How the case ended; begins with DIFFERS where it failed."""
    content = bytearray(chance.choice(originals))
    for _ in range(chance.choice((1, 1, 1, 2, 5, 30))):
        chance.choice(DAMAGES)(content, chance)
    path.write_bytes(content)
    scope = chance.choice(SCOPES)
    asked, found = read_asked(path, scope), read_pages(path, scope)
    if found[1] is None or (asked[1] is not None and is_equal(asked, found)):
        return f"module {found[0]}, SQLite {asked[0]}"
    return f"DIFFERS: module {found[0]}, SQLite {asked[0]}"


def read_asked(path: Path, scope: Scope | None) -> Outcome:
    """What SQLite answers."""
    from nsysan.ingest.sqlite import queried_columns

    return _read(path, lambda connection, table, _: queried_columns.read_columns(connection, table, COLUMNS, scope))


def read_pages(path: Path, scope: Scope | None) -> Outcome:
    """What the module answers."""
    from nsysan.ingest.sqlite import page_columns
    from nsysan.model.progress import UNWATCHED

    read = partial(page_columns.read_columns, progress=UNWATCHED)
    return _read(path, lambda connection, table, ids: read(connection, table, COLUMNS, scope, id_of_text=ids))


Read = Callable[[sqlite3.Connection, StoredTable, Callable[[bytes], int]], ColumnRead | None]


def _read(path: Path, read: Read) -> Outcome:
    from nsysan.ingest.sqlite.database import open_database
    from nsysan.ingest.sqlite.tables import tables_among

    texts = InlineTexts()

    def id_of(stored: bytes) -> int:
        return texts.id_of(stored.hex())

    try:
        with open_database(path, "case") as connection:
            connection.create_function("inline_text_id", 1, id_of)
            tables = tables_among(connection, ["wanted"])
            if "wanted" not in tables or not tables["wanted"].is_stored:
                return "has no table", None, {}
            answer = read(connection, tables["wanted"], id_of)
    except InputError:
        return "refuses", None, {}
    return "hands over" if answer is None else "answers", answer, texts.strings()


def is_equal(one: Outcome, other: Outcome) -> bool:
    """Whether both have the same rows, texts and count of unreadable rows."""
    (_, first, first_texts), (_, second, second_texts) = one, other
    if first is None or second is None or first.arrays is None or second.arrays is None:
        return False
    pairs = zip(first.arrays.values(), second.arrays.values(), strict=True)
    return (
        all(np.array_equal(*pair) for pair in pairs)
        and first.unreadable_count == second.unreadable_count
        and first_texts == second_texts
    )


def _flip(content: bytearray, chance: random.Random) -> None:
    content[chance.randrange(HEADER_BYTES, len(content))] ^= 1 << chance.randrange(8)


def _overwrite(content: bytearray, chance: random.Random) -> None:
    content[chance.randrange(HEADER_BYTES, len(content))] = chance.choice(
        (0, 1, 5, 13, 127, 128, 255, chance.randrange(256))
    )


def _damage_header(content: bytearray, chance: random.Random) -> None:
    content[chance.randrange(16, HEADER_BYTES)] = chance.choice((0, 1, 2, 255, chance.randrange(256)))


def _damage_page_begin(content: bytearray, chance: random.Random) -> None:
    """The kind of a page, its count of cells, where they are, the links to other pages."""
    at = chance.randrange(len(content) // _page_bytes(content)) * _page_bytes(content) + chance.randrange(40)
    if at >= HEADER_BYTES:
        content[at] = chance.choice((0, 1, 2, 5, 10, 13, 255, chance.randrange(256)))


def _damage_cell(content: bytearray, chance: random.Random) -> None:
    """The lengths, the row's number, and the header of a record, or the end where a link may be."""
    begin = chance.randrange(len(content) // _page_bytes(content)) * _page_bytes(content)
    pointer = begin + 8 + 2 * chance.randrange(20)
    cell = begin + int.from_bytes(content[pointer : pointer + 2], "big") + chance.randrange(24)
    if HEADER_BYTES <= cell < len(content):
        content[cell] = chance.choice((0, 1, 7, 8, 9, 10, 11, 12, 127, 128, 255, chance.randrange(256)))


def _repeat_page(content: bytearray, chance: random.Random) -> None:
    size = _page_bytes(content)
    count = len(content) // size
    source, target = chance.randrange(1, count) * size, chance.randrange(1, count) * size
    content[target : target + size] = content[source : source + size]


def _noise(content: bytearray, chance: random.Random) -> None:
    begin = chance.randrange(HEADER_BYTES, len(content))
    length = min(chance.randrange(1, 200), len(content) - begin)
    content[begin : begin + length] = chance.choice((bytes(length), chance.randbytes(length)))


def _page_bytes(content: bytearray) -> int:
    """The size of a page as the header says it, or one that is possible where it says nonsense."""
    size = int.from_bytes(content[16:18], "big")
    return size if 512 <= size <= len(content) // 2 else 512  # noqa: PLR2004 -- the smallest page


DAMAGES = (
    *(_flip, _overwrite, _noise, _repeat_page),
    *(_damage_page_begin, _damage_cell, _damage_cell, _damage_cell),
    _damage_header,
)


if __name__ == "__main__":
    sys.exit(main())
