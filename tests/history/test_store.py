"""The store of runs: what goes in comes out, many write at once, and a writer that is killed leaves nothing."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from nsysan.history.export import encode_runs
from nsysan.history.schema import HISTORY
from nsysan.history.snapshot import KeptFinding, Snapshot
from nsysan.history.store import Details, KeptRun, Store
from nsysan.model.errors import InputError, NsysanError, UsageError
from nsysan.model.results import Skipped
from nsysan.model.verdicts import Severity
from tests.history.snapshots import gpu_model, kernel_figures, snapshot, step_figures
from tests.project.repository import ROOT

pytest.importorskip("sqlite_utils", reason="sqlite-utils is not installed")

NOW = "2026-11-30T12:00:00Z"
RUN = snapshot(
    *step_figures(80, 20, {"data_loading": 30}, error_ms=0.5),
    *kernel_figures("gemm\u2028</script>", 40, 12),
    conditions=(gpu_model("H100"), gpu_model(None)),
    findings=(KeptFinding("data_wait", "data_loading", Severity.WARNING, "waits"),),
    skipped=(Skipped("launches", "no calls", None),),
)


def test_a_run_comes_out_as_it_went_in(tmp_path: Path) -> None:
    store = Store(tmp_path / "history.sqlite")

    added = store.add({"abc": RUN}, Details(NOW, "c0ffee", {"who": "me"}, "main"))

    assert added == ("abc",)
    assert store.run("a") == KeptRun("abc", NOW, "c0ffee", {"who": "me"}, ("main",), RUN)
    assert store.runs(["step.mean"]) == (
        KeptRun("abc", NOW, "c0ffee", {"who": "me"}, ("main",), replace(RUN, figures=RUN.figures[:1])),
    )
    assert b'"gemm\\u2028' in encode_runs(store.runs(None)) or "gemm\u2028".encode() in encode_runs(store.runs(None))


def test_a_run_that_is_there_stays_one_and_joins_the_baseline(tmp_path: Path) -> None:
    store = Store(tmp_path / "history.sqlite")
    store.add({"abc": RUN}, Details(NOW))

    assert store.add({"abc": RUN, "abx": RUN}, Details(NOW, baseline="main")) == ("abx",)

    assert [(run.id, run.baselines) for run in store.runs([])] == [("abc", ("main",)), ("abx", ("main",))]
    assert [run.id for run in store.baseline("main")] == ["abc", "abx"]


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda store: store.run("ab"), "More than one run begins with 'ab'."),
        (lambda store: store.run("x"), "No run begins with 'x'."),
        (lambda store: store.run("%"), "No run begins with '%'."),
        (lambda store: store.run(""), "More than one run begins with ''."),
        (lambda store: store.baseline("main"), "There is no baseline 'main'"),
    ],
)
def test_what_is_not_there_is_said(tmp_path: Path, ask: object, sentence: str) -> None:
    store = Store(tmp_path / "history.sqlite")
    store.add({"abc": RUN, "abx": RUN}, Details(NOW))

    with pytest.raises(UsageError, match=sentence.replace(".", r"\.")):
        ask(store)  # type: ignore[operator]


def _other_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("create table runs (id)")
    connection.close()


def _newer_history(path: Path) -> None:
    Store(path).add({"abc": RUN}, Details(NOW))
    with sqlite3.connect(path) as connection:
        connection.execute(f"pragma user_version = {len(HISTORY.steps) + 1}")
    connection.close()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_text("# notes"), "is no history of nsysan"),
        (lambda path: path.mkdir(), "is no history of nsysan"),
        (_other_database, "is no history of nsysan"),
        (_newer_history, "was written by a newer nsysan"),
        (lambda path: path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 100), "cannot be used"),
    ],
)
def test_a_file_that_is_no_history_is_refused_and_left_as_it_is(tmp_path: Path, make: object, sentence: str) -> None:
    path = tmp_path / "history.sqlite"
    make(path)  # type: ignore[operator]
    before = path.read_bytes() if path.is_file() else None

    with pytest.raises(InputError, match=sentence):
        Store(path).add({"new": RUN}, Details(NOW))
    with pytest.raises(InputError, match=sentence if path.is_file() else "There is no history"):
        Store(path).runs([])
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("update runs set conditions = 'nope'", "JSON is malformed"),
        ("update runs set labels = '[1]'", "Expected `object`, got `array`"),
        ("update runs set findings = null", "NoneType instead of JSON"),
        ("update runs set added_utc = null", "Expected `str`, got `null`"),
        ("update figures set unit = 'parsec'", "Invalid enum value 'parsec'"),
        ("update amounts set value = null", "a figure is None"),
        ("update amounts set value = 'abc'", "a figure is 'abc'"),
        ("update amounts set value = 9e999", "a figure is inf"),
    ],
)
def test_a_run_that_somebody_damaged_is_refused_in_a_sentence(tmp_path: Path, change: str, sentence: str) -> None:
    """A baseline of endless steps would pass everything."""
    path = tmp_path / "history.sqlite"
    Store(path).add({"abc": RUN}, Details(NOW, baseline="main"))
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    connection.close()

    with pytest.raises(InputError, match=sentence):
        Store(path).baseline("main")


def test_reading_where_there_is_no_history_makes_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no history"):
        Store(tmp_path / "none.sqlite").runs([])

    assert list(tmp_path.iterdir()) == []


def _python(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code, *arguments], cwd=ROOT)


WRITER = """
import sys
from pathlib import Path
from nsysan.history.store import Details, Store
from tests.history.test_store import NOW, RUN
for number in range(5):
    Store(Path(sys.argv[1])).add({f"{sys.argv[2]}-{number}": RUN}, Details(NOW, baseline="main"))
"""


def test_many_write_at_once_into_a_history_that_none_had_made(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"

    writers = [_python(WRITER, str(path), str(writer)) for writer in range(4)]

    assert [writer.wait() for writer in writers] == [0] * 4
    assert sorted(run.id for run in Store(path).baseline("main")) == sorted(
        f"{writer}-{number}" for writer in range(4) for number in range(5)
    )
    assert Store(path).run("3-4").snapshot == RUN


KILLED = """
import os, signal, sys
from pathlib import Path
from nsysan.history import store
from nsysan.history.store import Details, Store
from tests.history.test_store import NOW, RUN
insert = store._insert
def insert_and_die(*arguments):
    insert(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
store._insert = insert_and_die
Store(Path(sys.argv[1])).add({"killed": RUN}, Details(NOW))
"""


def test_a_writer_that_is_killed_leaves_the_history_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    Store(path).add({"abc": RUN}, Details(NOW))

    assert _python(KILLED, str(path)).wait() == -signal.SIGKILL

    assert [run.id for run in Store(path).runs([])] == ["abc"]
    assert Store(path).add({"next": RUN}, Details(NOW)) == ("next",)


def test_all_runs_of_one_add_are_kept_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, kept = tmp_path / "history.sqlite", []
    Store(path).add({"abc": RUN}, Details(NOW))

    def refuse_the_second(_database: object, run_id: str, _snapshot: Snapshot, _details: Details) -> None:
        kept.append(run_id)
        if len(kept) > 1:
            raise NsysanError("no more")

    monkeypatch.setattr("nsysan.history.store._insert", refuse_the_second)
    with pytest.raises(NsysanError, match="no more"):
        Store(path).add({"one": RUN, "two": RUN}, Details(NOW, baseline="main"))

    assert [run.id for run in Store(path).runs([])] == ["abc"]
