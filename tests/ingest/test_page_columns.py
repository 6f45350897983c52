"""The compiled module reads the columns that SQLite would, value by value, or hands over."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from nsysan.ingest.columns import Column, Scope
from nsysan.ingest.nsys import tables
from nsysan.ingest.sqlite import page_columns
from nsysan.model.errors import InputError
from nsysan.model.tables import ABSENT
from nsysan.synth.export import Export
from tests.ingest.columns_twice import (
    COLUMNS,
    END,
    NAME,
    PLACE,
    SCOPE,
    START,
    Answer,
    asked_from_sqlite,
    read_from_pages,
)
from tests.ingest.reading import edit, read, rows

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not page_columns.is_module_there(), reason="the module of columns was not compiled"),
]

EXPORTS = sorted((Path(__file__).parents[3] / "shared" / "traces").glob("*.sqlite"))
KINDS = (
    *(tables.KERNELS, tables.COPIES, tables.MEMSETS, tables.GRAPH_LAUNCHES),
    *(tables.RUNTIME_CALLS, tables.NVTX_EVENTS),
)


def made(path: Path, *statements: str) -> Path:
    """A new database after these statements."""
    path.unlink(missing_ok=True)
    return edit(path, *statements)


def both(path: Path, *columns: Column, scope: Scope | None = None) -> Answer:
    """The one answer of both readers."""
    answer = read_from_pages(path, "t1", columns, scope)
    assert answer == asked_from_sqlite(path, "t1", columns, scope)
    assert answer is not None
    return answer


def assert_read_alike(export: Path) -> None:
    with closing(sqlite3.connect(export.as_uri() + "?immutable=1", uri=True)) as connection:
        present = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for kind in KINDS:
        for name in present.intersection(kind.names):
            answer = read_from_pages(export, name, kind.columns, kind.scope)
            assert answer is not None, name
            assert answer == asked_from_sqlite(export, name, kind.columns, kind.scope), name


@pytest.mark.skipif(not EXPORTS, reason="the shared real exports are not beside this checkout")
@pytest.mark.parametrize("export", EXPORTS, ids=lambda path: path.stem)
def test_real_exports_are_read_from_their_pages(export: Path) -> None:
    assert_read_alike(export)


@pytest.mark.parametrize("schema", ["3.7", "3.25"])
def test_made_up_exports_are_read_from_their_pages(schema: str, tmp_path: Path) -> None:
    export = Export(schema).gpu().nvtx_domain(1, "NCCL")
    for step in range(2_000):
        export.kernel(step * 10, step * 10 + 5, f"kernel {step % 7}").copy(step, step + 1, 8).memset(step, step + 1, 8)
        export.call(step, step + 1, "cudaLaunchKernel_v7000").nvtx(step, step + 1, f"step {step}")
        export.nvtx(step, None, "load", registered=True)

    assert_read_alike(export.write(tmp_path / "rank0.sqlite"))


def test_with_and_without_the_module_a_trace_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Export().kernel(0, 5, "gemm").nvtx(0, None, "load").nvtx(1, 2, "öä").write(tmp_path / "rank0.sqlite")
    with_module = read(path)

    monkeypatch.setenv("NSYSAN_NATIVE", "0")
    without = read(path)

    assert not page_columns.is_module_there()
    for name in ("kernels", "nvtx_ranges"):
        assert rows(getattr(with_module, name)) == rows(getattr(without, name)) != []
    assert with_module.strings == without.strings


def test_what_a_value_of_another_type_means(tmp_path: Path) -> None:
    path = made(
        tmp_path / "t.sqlite",
        "CREATE TABLE t1 (a, b, e)",
        "INSERT INTO t1 VALUES (1, 2, 0), (3, NULL, 1), (7, 8, 2)",
        "INSERT INTO t1 VALUES (NULL, 5, 1), (6, 'x', 1), (9, 9, 'x'), ('10', 1, 0)",
    )

    # of the scope are all but the row with 2; three lack a number for a or have text for b; one may be in scope or not
    assert both(path, START, END, scope=SCOPE) == Answer({"start": [1, 3], "end": [2, ABSENT]}, 4, {})


def test_widths_and_signs(tmp_path: Path) -> None:
    values = [sign * (1 << bits) - less for bits, sign, less in product(range(63), (1, -1), (0, 1))]
    values += [-(1 << 63), (1 << 63) - 1]
    path = made(tmp_path / "t.sqlite", "CREATE TABLE t1 (a)", *(f"INSERT INTO t1 VALUES ({value})" for value in values))

    assert both(path, START) == Answer({"start": values}, 0, {})


def test_the_number_of_a_row_is_the_value_of_its_integer_key(tmp_path: Path) -> None:
    path = made(
        tmp_path / "t.sqlite",
        "CREATE TABLE t1 (c, id INTEGER PRIMARY KEY)",
        "INSERT INTO t1 VALUES (NULL, 5), (4, 3), ('x', -9)",
    )

    assert both(path, PLACE) == Answer({"place": [-9, 4, 5]}, 0, {})


def test_a_descending_key_is_a_value_like_others(tmp_path: Path) -> None:
    # a quirk that SQLite keeps: this is no other name of the row's number
    path = made(
        tmp_path / "t.sqlite",
        "CREATE TABLE t1 (c, id INTEGER PRIMARY KEY DESC)",
        "INSERT INTO t1 VALUES (NULL, 5), (4, 3)",
    )

    assert both(path, PLACE) == Answer({"place": [5, 4]}, 0, {})


def test_text_before_numbers_leaves_the_page(tmp_path: Path) -> None:
    long = "x" * 100_000
    path = made(
        tmp_path / "t.sqlite", "CREATE TABLE t1 (t TEXT, d, c, a)", f"INSERT INTO t1 VALUES ('{long}', 1, NULL, 77)"
    )

    first_id = 1 << 62
    assert both(path, START, NAME) == Answer({"start": [77], "name": [first_id]}, 0, {first_id: b"x".hex() * 100_000})


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_text_is_handed_on_as_it_is_stored(tmp_path: Path, encoding: str) -> None:
    path = made(
        tmp_path / "t.sqlite",
        f"PRAGMA encoding='{encoding}'",
        "CREATE TABLE t1 (d, c, t)",
        "INSERT INTO t1 VALUES (NULL, NULL, 'é')",
    )

    first_id = 1 << 62
    assert both(path, NAME) == Answer({"name": [first_id]}, 0, {first_id: "é".encode(encoding).hex()})


def test_a_column_that_was_added_is_null_in_earlier_rows(tmp_path: Path) -> None:
    path = made(
        tmp_path / "t.sqlite",
        "CREATE TABLE t1 (a)",
        "INSERT INTO t1 VALUES (1)",
        "ALTER TABLE t1 ADD COLUMN b",
        "INSERT INTO t1 VALUES (2, 3)",
    )

    assert both(path, START, END) == Answer({"start": [1, 2], "end": [ABSENT, 3]}, 0, {})


def test_reserved_bytes_at_the_end_of_each_page(tmp_path: Path) -> None:
    path = made(tmp_path / "t.sqlite", "PRAGMA page_size=512", "PRAGMA user_version=1")
    content = bytearray(path.read_bytes())
    content[20] = 32
    content[105:107] = (512 - 32).to_bytes(2, "big")
    path.write_bytes(content)
    numbers = ", ".join(f"({number}, 'text {number:>200}')" for number in range(500))
    edit(path, "CREATE TABLE t1 (a, t)", f"INSERT INTO t1 VALUES {numbers}", "PRAGMA quick_check")

    assert path.read_bytes()[20] == 32
    assert both(path, START).columns == {"start": list(range(500))}
    assert len(both(path, NAME).texts) == 500


def test_what_waits_in_a_log_is_read(tmp_path: Path) -> None:
    path = Export().kernel(0, 5, "gemm").write(tmp_path / "rank0.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 3")
        assert path.with_name("rank0.sqlite-wal").stat().st_size > 0

        assert rows(read(path).kernels, "start_ns", "end_ns") == [(3, 5)]


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("t1 (a, b, c, d, id, t, PRIMARY KEY (a)) WITHOUT ROWID", "(1, 2, 3, 4, 5, 'x')"),
        ("t1 (a, b REAL, c, d, id, t)", "(1, 2, 3, 4, 5, 'x')"),
        ("t1 (a, b, c, d, id AS (a + 1) STORED, t)", "(1, 2, 3, 4, 'x')"),
        ("t1 (a, b, c, d, id, t)", "(1, 2.5, 3, 4, 5, 'x')"),
        ("t1 (a, b, c, d, id, t)", "(1, 2, 3, 4, 5, 6)"),
    ],
    ids=["rows without numbers", "reals stored as integers", "computed", "perhaps NaN", "a number for text"],
)
def test_what_is_handed_over(tmp_path: Path, table: str, values: str) -> None:
    path = made(tmp_path / "t.sqlite", f"CREATE TABLE {table}", f"INSERT INTO t1 VALUES {values}")

    assert read_from_pages(path, "t1", COLUMNS) is None
    assert asked_from_sqlite(path, "t1", (START,)).columns == {"start": [1]}


def test_a_default_of_earlier_rows_is_handed_over(tmp_path: Path) -> None:
    path = made(
        tmp_path / "t.sqlite",
        "CREATE TABLE t1 (a)",
        "INSERT INTO t1 VALUES (1)",
        "ALTER TABLE t1 ADD COLUMN b DEFAULT 5",
    )

    assert both(path, START).columns == {"start": [1]}
    assert read_from_pages(path, "t1", (START, END)) is None
    assert asked_from_sqlite(path, "t1", (START, END)).columns == {"start": [1], "end": [5]}


def test_the_word_alone_does_not_take_the_numbers_from_rows(tmp_path: Path) -> None:
    path = made(tmp_path / "t.sqlite", "CREATE TABLE t1 (a -- name without arguments\n)", "INSERT INTO t1 VALUES (1)")

    assert both(path, START).columns == {"start": [1]}


def test_a_record_without_values_is_refused_as_sqlite_does(tmp_path: Path) -> None:
    path = made(tmp_path / "t.sqlite", "CREATE TABLE t1 (a)", "INSERT INTO t1 VALUES ('here')")
    content = path.read_bytes()
    # six bytes of record: a header of two, which says text of four bytes; now one byte, a header of nothing
    whole, nothing = b"\x06\x01\x02\x15here", b"\x01\x01\x01\x15here"
    assert content.count(whole) == 1
    path.write_bytes(content.replace(whole, nothing))

    assert read_from_pages(path, "t1", (START,)) is None
    with pytest.raises(InputError, match="malformed"):
        asked_from_sqlite(path, "t1", (START,))
