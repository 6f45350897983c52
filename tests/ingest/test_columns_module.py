"""The compiled module as Python calls it: blocks, arguments, a file that changes, a user who stops it."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from nsysan.ingest.sqlite import page_columns
from nsysan.model.arrays import IdArray, Int64Array
from tests.ingest.reading import edit

if page_columns.is_module_there():
    from nsysan.ingest import _columns
else:
    pytest.skip("the module of columns was not compiled", allow_module_level=True)

ROWS = 500
NUMBER = _columns.Column(sources=[0], is_needed=True, accepts_null=False, text=None)
TEXT = _columns.Column(sources=[], is_needed=False, accepts_null=False, text=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A table of 500 numbers and texts on pages of 512 bytes."""
    rows = ", ".join(f"({number}, 'text {number}')" for number in range(ROWS))
    return edit(
        tmp_path / "t.sqlite", "PRAGMA page_size=512", "CREATE TABLE t1 (a, t)", f"INSERT INTO t1 VALUES {rows}"
    )


def scan(
    path: Path,
    columns: tuple[_columns.Column, ...] = (NUMBER, TEXT),
    id_of_text: Callable[[bytes], int] = len,
    scope: _columns.Scope | None = None,
) -> _columns.Scan:
    with closing(sqlite3.connect(path)) as connection:
        (root_page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 't1'").fetchone()
    layout = _columns.Layout(root_page=root_page, has_default=[False, False], row_number=None)
    return _columns.Scan(os.fsencode(path), layout=layout, columns=columns, scope=scope, id_of_text=id_of_text)


@pytest.mark.parametrize("row_count", [0, 1, 84, 100, 499, 500, 10_000])
def test_blocks_hold_whole_pages_and_together_every_row(path: Path, row_count: int) -> None:
    scanned = scan(path)
    numbers: list[int] = []
    while (block := scanned.read(row_count)) is not None:
        # (512 - 8) / 6 rows are the most that such a page can hold: there is room for one page at least
        assert len(block[0]) == len(block[1]) <= max(row_count, 84)
        numbers += block[0].tolist()

    assert numbers == list(range(ROWS))
    assert scanned.read(row_count) is None


def test_each_text_is_asked_for_once(path: Path) -> None:
    edit(path, "UPDATE t1 SET t = 'odd' WHERE a % 2", "UPDATE t1 SET t = 'even' WHERE a % 2 = 0")
    asked = []

    def id_of(text: bytes) -> int:
        asked.append(text)
        return 10 * len(asked)

    block = scan(path, (TEXT,), id_of).read(ROWS)

    assert asked == [b"even", b"odd"]
    assert block is not None
    assert block[0].tolist() == [10, 20] * (ROWS // 2)


def test_a_file_that_changes_while_it_is_read_is_handed_over(path: Path) -> None:
    def change(_text: bytes) -> int:
        edit(path, "DELETE FROM t1 WHERE a = 7")
        return 1

    with pytest.raises(_columns.HandOverError, match="changed while it was read"):
        scan(path, id_of_text=change).read(ROWS)


def test_a_file_that_is_cut_while_it_is_read_is_handed_over(path: Path) -> None:
    scanned = scan(path)
    os.truncate(path, 1024)

    with pytest.raises(_columns.HandOverError, match="ends early"):
        scanned.read(ROWS)


def test_after_handing_over_there_are_no_more_rows(path: Path) -> None:
    scanned = scan(path)
    os.truncate(path, 1024)

    for _ in range(2):
        with pytest.raises(_columns.HandOverError):
            scanned.read(ROWS)


def test_what_asking_for_a_text_raises_is_raised(path: Path) -> None:
    def fail(_text: bytes) -> int:
        raise LookupError("no such text")

    with pytest.raises(LookupError, match="no such text"):
        scan(path, id_of_text=fail).read(ROWS)


def test_the_user_stops_it(path: Path) -> None:
    def stop(_text: bytes) -> int:
        signal.raise_signal(signal.SIGINT)
        return 1

    with pytest.raises(KeyboardInterrupt):
        scan(path, id_of_text=stop).read(ROWS)


def test_one_thread_at_a_time(path: Path) -> None:
    def read_again(_text: bytes) -> int:
        scanned.read(1)
        return 1

    scanned = scan(path, id_of_text=read_again)

    with pytest.raises(RuntimeError, match="one thread at a time"):
        scanned.read(ROWS)


def test_columns_that_the_table_does_not_have_are_refused(path: Path) -> None:
    beyond = _columns.Column(sources=[2], is_needed=False, accepts_null=False, text=None)
    text_beyond = _columns.Column(sources=[], is_needed=False, accepts_null=False, text=2)
    sourceless = _columns.Column(sources=[], is_needed=True, accepts_null=False, text=None)

    for column in (beyond, text_beyond, sourceless):
        with pytest.raises(ValueError, match="column"):
            scan(path, (column,))
    with pytest.raises(ValueError, match="no such column"):
        scan(path, scope=_columns.Scope(position=2, values=[1]))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "ends early"),
        (b"no database" * 1000, "header"),
        (b"SQLite format 3\0" + bytes(1000), "header"),
    ],
)
def test_what_is_no_database_is_handed_over(path: Path, content: bytes, why: str) -> None:
    layout = _columns.Layout(root_page=2, has_default=[False], row_number=None)
    path.write_bytes(content)

    with pytest.raises(_columns.HandOverError, match=why):
        _columns.Scan(os.fsencode(path), layout=layout, columns=[NUMBER], scope=None, id_of_text=len)


@pytest.mark.parametrize("root_page", [0, 1, 10_000, (1 << 32) - 1])
def test_a_table_that_begins_nowhere_is_handed_over(path: Path, root_page: int) -> None:
    layout = _columns.Layout(root_page=root_page, has_default=[False], row_number=None)

    with pytest.raises(_columns.HandOverError, match="page number"):
        _columns.Scan(os.fsencode(path), layout=layout, columns=[NUMBER], scope=None, id_of_text=len)


def kept(path: Path, *numbers: int, form: _columns.Form = _columns.Form.NARROW) -> tuple[IdArray, Int64Array | None]:
    """How the numbers, one a row, are kept."""
    edit(path, "DELETE FROM t1", "INSERT INTO t1 VALUES " + ", ".join(f"({number}, NULL)" for number in numbers))
    column = _columns.Column(sources=[0], is_needed=True, accepts_null=False, text=None, form=form)
    scanned = scan(path, (column,))
    counts = list(iter(lambda: scanned.keep(1), None))
    assert sum(counts) == len(numbers)
    ((found, values),) = scanned.kept()
    return found, values


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("small_count", [1, 3, 10_000])
def test_numbers_take_the_bytes_of_the_widest_wherever_it_comes(path: Path, bits: int, small_count: int) -> None:
    first, last = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    small = [0, 1] * small_count
    for numbers in ([last, *small], [*small, first], [*small, last, *small]):
        found, values = kept(path, *numbers)
        assert (found.tolist(), found.itemsize, values) == (numbers, bits // 8, None)
    if bits < 64:
        assert kept(path, *small, last + 1)[0].itemsize == kept(path, first - 1, *small)[0].itemsize == bits // 4


@pytest.mark.parametrize("form", [_columns.Form.NARROW, _columns.Form.WIDE])
def test_one_number_in_all_rows_is_kept_once(path: Path, form: _columns.Form) -> None:
    found, _ = kept(path, *[-300] * 20_000, form=form)

    assert found.tolist() == [-300]


def test_wide_numbers_take_eight_bytes(path: Path) -> None:
    found, _ = kept(path, 7, 7, 8, form=_columns.Form.WIDE)

    assert (found.tolist(), found.itemsize) == ([7, 7, 8], 8)


def test_coded_numbers_are_places_among_values_in_order_of_appearance(path: Path) -> None:
    found, values = kept(path, 1 << 48, -5, -5, 1 << 48, 0, form=_columns.Form.CODED)

    assert (found.tolist(), found.itemsize) == ([0, 1, 1, 0, 2], 1)
    assert values is not None
    assert values.tolist() == [1 << 48, -5, 0]


@pytest.mark.parametrize("step", [1, 1 << 52], ids=["one after the other", "chosen to be slow"])
def test_coded_numbers_of_many_values(path: Path, step: int) -> None:
    # numbers whose low bits are all 0 meet at one place of a table that multiplies them
    numbers = [step * (row % 2_000 - 1_000) for row in range(9_000)]

    found, values = kept(path, *numbers, form=_columns.Form.CODED)

    assert (values is None) == (step > 1)
    assert (found if values is None else values[found]).tolist() == numbers


def test_columns_with_values_are_told(path: Path) -> None:
    edit(path, "CREATE TABLE t2 (a, t)", "INSERT INTO t2 VALUES (1, NULL), (2, NULL)")
    edit(path, "DROP TABLE t1", "ALTER TABLE t2 RENAME TO t1")
    scanned = scan(path, (TEXT,))

    scanned.keep(ROWS)

    assert scanned.is_used == [True, False]
