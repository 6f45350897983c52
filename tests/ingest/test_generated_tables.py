"""Generated tables of every shape: the compiled module answers as SQLite does, or hands over.

``NSYSAN_TABLE_COUNT`` sets how many are made.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from nsysan.ingest.columns import Scope
from nsysan.ingest.sqlite import page_columns
from tests.ingest.columns_twice import (
    COLUMNS,
    SCOPE,
    asked_from_sqlite,
    holding_values,
    read_from_pages,
    used_columns,
)

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not page_columns.is_module_there(), reason="the module of columns was not compiled"),
]

INTEGERS = st.one_of(
    st.sampled_from([0, 1, -1, 70]),
    st.integers(-(1 << 63), (1 << 63) - 1),
    *(st.integers(-(1 << bits), (1 << bits) - 1) for bits in (7, 15, 23, 31, 47)),
)
NUMBERS = st.one_of(st.none(), INTEGERS, INTEGERS, INTEGERS)
ODD_VALUES = st.one_of(
    st.none(),
    st.floats(allow_nan=True),
    st.integers(-5, 5).map(float),
    st.integers(-9, 9).map(str),
    st.text(max_size=5),
    st.binary(max_size=5),
)
# no lone surrogates, which sqlite3 cannot store; long ones leave the page
TEXTS = st.one_of(
    st.none(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.binary(max_size=9),
    st.builds(lambda letter, count: letter * count, st.sampled_from("xé"), st.sampled_from([30, 500, 3_000])),
)
NAMES = ("a", "b", "c", "d", "e", "id", "t", "more", "rest")
TYPES = ("INTEGER", "INTEGER", "INT NOT NULL DEFAULT 3", "BIGINT", "", "NUMERIC", "TEXT", "BLOB", "REAL", "DOUBLE")
KEYS = ("INTEGER", "INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY DESC", "INT PRIMARY KEY", "TEXT PRIMARY KEY")
AFTERWARDS = (
    "DELETE FROM t1 WHERE rowid % 3 = 0",
    "DELETE FROM t1",
    "UPDATE t1 SET c = 1 << 40 WHERE a % 2 = 0",
    "ALTER TABLE t1 ADD COLUMN late",
    "ALTER TABLE t1 ADD COLUMN late DEFAULT 5",
    "ALTER TABLE t1 DROP COLUMN more",
    "CREATE INDEX i1 ON t1 (a, b, c, d, e, id, t)",
    "CREATE INDEX i2 ON t1 (e)",
    "VACUUM",
    "PRAGMA auto_vacuum=1; VACUUM",
    "INSERT INTO t1 SELECT * FROM t1 WHERE rowid % 2 = 0",
    "ALTER TABLE t1 RENAME COLUMN rest TO remains",
)


@st.composite
def databases(draw: st.DrawFn) -> list[tuple[str, tuple[object, ...]]]:
    """Statements with their values that make a database with a table ``t1``."""
    is_odd = draw(st.sampled_from((False, False, False, True)))
    names = draw(st.permutations(NAMES))
    kinds = {name: draw(st.sampled_from(TYPES if is_odd else TYPES[:2])) for name in names} | {
        "id": draw(st.sampled_from(KEYS if is_odd else KEYS[:2])),
        "t": "TEXT" if not is_odd else draw(st.sampled_from(("TEXT", "", "BLOB", "INTEGER"))),
    }
    is_keyed = "PRIMARY KEY" in kinds["id"] and draw(st.sampled_from((False, False, False, True)))
    declared = ", ".join(f'"{name}" {kinds[name]}' for name in names)
    statements: list[tuple[str, tuple[object, ...]]] = [
        (f"PRAGMA page_size={draw(st.sampled_from((512, 1024, 4096, 65_536)))}", ()),
        (f"PRAGMA encoding='{draw(st.sampled_from(('UTF-8', 'UTF-16le', 'UTF-16be')))}'", ()),
        (f"PRAGMA auto_vacuum={draw(st.sampled_from((0, 0, 0, 1, 2)))}", ()),
        (f"CREATE TABLE t1 ({declared}) {'WITHOUT ROWID' if is_keyed else ''}", ()),
        ("CREATE TABLE other (x)", ()),
    ]
    number = st.one_of(NUMBERS, NUMBERS, ODD_VALUES) if is_odd else NUMBERS
    row = st.tuples(*(TEXTS if name == "t" else number for name in names))
    insert = f"INSERT OR IGNORE INTO t1 VALUES ({', '.join('?' * len(names))})"
    statements += [(insert, values) for values in draw(st.lists(row, max_size=12))]
    # many rows out of few, so that the tree has levels
    repeats = draw(st.sampled_from((0, 0, 3, 6)))
    others = ", ".join("NULL" if name == "id" else f'"{name}"' for name in names)
    statements += [(f"INSERT OR IGNORE INTO t1 SELECT {others} FROM t1", ())] * repeats
    afterwards = draw(st.lists(st.sampled_from(AFTERWARDS), max_size=3))
    return statements + [(statement, ()) for each in afterwards for statement in each.split("; ")]


def write(path: Path, statements: list[tuple[str, tuple[object, ...]]]) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement, values in statements:
            # not every combination makes sense
            with suppress(sqlite3.Error):
                connection.execute(statement, values)


@settings(
    max_examples=int(os.environ.get("NSYSAN_TABLE_COUNT", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(database=databases(), scope=st.sampled_from((None, SCOPE)))
def test_any_table_is_read_alike_or_handed_over(
    tmp_path: Path, database: list[tuple[str, tuple[object, ...]]], scope: Scope | None
) -> None:
    path = tmp_path / "generated.sqlite"
    write(path, database)

    from_pages = read_from_pages(path, "t1", COLUMNS, scope)

    event("handed over" if from_pages is None else "read")
    assert from_pages in (None, asked_from_sqlite(path, "t1", COLUMNS, scope))
    if from_pages is not None:
        assert holding_values(path, "t1") <= (used_columns(path, "t1", COLUMNS, scope) or frozenset())
