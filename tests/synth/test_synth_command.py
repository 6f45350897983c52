"""``nsysan synth``: what it prints and writes, and what it refuses."""

from __future__ import annotations

import errno
import os
import re
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from nsysan.cli.main import main
from nsysan.cli.synth import COMMAND
from nsysan.model.errors import MissingToolError, UsageError
from nsysan.output.failure import writing
from nsysan.synth.export import Export
from nsysan.synth.kineto import KinetoTrace
from nsysan.synth.scenario import all_scenarios, worked_scenarios
from nsysan.synth.training.spelling import SPELLINGS
from nsysan.synth.truth.job_truth import decode_truth


def synth(*arguments: str) -> Result:
    assert isinstance(COMMAND, click.Command)
    return CliRunner().invoke(COMMAND, arguments)


def test_it_prints_the_paths_it_wrote(tmp_path: Path) -> None:
    small = ("--ranks", "2", "--steps", "2", "--layout", "per-rank", "--schema", "3.7")

    result = synth("data-bound", "-o", str(tmp_path / "new"), *small)

    names = ["data-bound-rank0.sqlite", "data-bound-rank1.sqlite", "data-bound.truth.json"]
    assert result.output.splitlines() == [str(tmp_path / "new" / name) for name in names]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == names


def test_a_rank_is_left_out(tmp_path: Path) -> None:
    result = synth(
        *("healthy", "-o", str(tmp_path), "--ranks", "3", "--steps", "2", "--layout", "per-rank", "--omit-rank", "1")
    )

    assert [Path(line).name for line in result.output.splitlines()] == [
        "healthy-rank0.sqlite",
        "healthy-rank2.sqlite",
        "healthy.truth.json",
    ]


def test_more_than_1024_ranks_are_refused() -> None:
    result = synth("healthy", "--ranks", "1025")

    assert result.exit_code == 2
    assert "1025 is not in the range 1<=x<=1024" in result.output


def test_sessions_begin_apart(tmp_path: Path) -> None:
    result = synth(
        *("healthy", "-o", str(tmp_path), "--ranks", "2", "--steps", "2", "--layout", "per-rank"),
        *("--clock-error", "0.5"),
    )

    ranks = decode_truth(Path(result.output.splitlines()[-1]).read_bytes()).ranks
    assert ranks[0].utc_error_ns == ranks[1].utc_error_ns
    assert 0 < abs(ranks[0].utc_error_ns) <= 500_000
    assert ranks[0].session_start_ns != ranks[1].session_start_ns


def test_kinds_of_records_and_recordings_in_a_row(tmp_path: Path) -> None:
    small = ("healthy", "-o", str(tmp_path), "--ranks", "1", "--steps", "2")

    result = synth(*small, "--trace", "cuda,osrt,sched", "--repeat", "3")

    truth = decode_truth(Path(result.output.splitlines()[-1]).read_bytes())
    assert (truth.recording_count, truth.ranks[0].system is not None) == (3, True)
    assert [step.marker for step in truth.ranks[0].steps] == [f"step {number}" for number in range(5)]
    with closing(sqlite3.connect(tmp_path / "healthy.sqlite")) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert {"OSRT_API", "SCHED_EVENTS"} <= tables
    assert "NVTX_EVENTS" not in tables


def test_a_word_that_names_no_kind_is_refused_and_so_are_no_recordings(tmp_path: Path) -> None:
    unknown = synth("healthy", "-o", str(tmp_path), "--trace", "cuda,\x1b[2J")

    assert isinstance(unknown.exception, UsageError)
    assert "There is no kind of record" in unknown.exception.message
    assert "\x1b" not in unknown.exception.message
    assert "osrt" in str(unknown.exception.hint)
    assert synth("healthy", "--repeat", "0").exit_code == 2
    for size in (("--repeat", f"{10**21}"), ("--steps", "1000000000", "--ranks", "1")):
        refused = synth("healthy", "-o", str(tmp_path), *size).exception
        assert isinstance(refused, UsageError)
        assert "are over 1,000,000 steps" in refused.message
    assert not list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_kineto_is_a_file_of_each_rank_that_may_be_replaced(tmp_path: Path) -> None:
    small = ("healthy", "-o", str(tmp_path), "--ranks", "2", "--steps", "2", "--format", "kineto")
    names = ["healthy-rank0.pt.trace.json", "healthy-rank1.pt.trace.json", "healthy.truth.json"]

    result = synth(*small)

    assert result.output.splitlines() == [str(tmp_path / name) for name in names]
    assert synth(*small).exit_code == 0
    (tmp_path / names[0]).write_text('{"schemaVersion": 1, "traceEvents": []}')
    assert isinstance(synth(*small).exception, UsageError)


def test_ranges_are_spelt_as_asked_for() -> None:
    assert isinstance(COMMAND, click.Command)
    [option] = [parameter for parameter in COMMAND.params if parameter.name == "spelling"]
    assert isinstance(option.type, click.Choice)
    assert list(option.type.choices) == list(SPELLINGS)


def test_blobs_are_included_where_there_can_be_some(tmp_path: Path) -> None:
    small = ("healthy", "-o", str(tmp_path), "--ranks", "2", "--steps", "2", "--include-blobs", "--nvtx", "lightning")

    assert synth(*small).exit_code == 0
    with closing(sqlite3.connect(tmp_path / "healthy.sqlite")) as connection:
        [blobs] = connection.execute("SELECT count(binaryData) FROM NVTX_EVENTS")
        [marked] = connection.execute("SELECT count(*) FROM NVTX_EVENTS WHERE text LIKE '%run_training_batch'")
    # per rank the communicator and 2 x 4 reductions; a marker a step
    assert (blobs, marked) == ((2 * 9,), (2 * 2,))
    refused = synth(*small, "--schema", "3.7").exception
    assert isinstance(refused, UsageError)
    assert "hold payloads" in refused.message


def test_ranks_that_cannot_be_divided_are_refused(tmp_path: Path) -> None:
    for scenario in ("pipeline-bubble", "tensor-parallel", "moe-skew"):
        refused = synth(scenario, "-o", str(tmp_path), "--ranks", "11").exception
        assert isinstance(refused, UsageError)
        assert refused.message.startswith("11 ranks ")
    assert not list(tmp_path.iterdir())


def test_the_list_has_a_line_for_each_scenario() -> None:
    assert [line.split()[0].replace("-", "_") for line in synth("--list").output.splitlines()] == [
        scenario.name for scenario in (*all_scenarios(), *worked_scenarios())
    ]


def test_its_own_files_are_replaced(tmp_path: Path) -> None:
    synth("healthy", "-o", str(tmp_path), "--ranks", "1", "--steps", "2", "--seed", "1")
    before = (tmp_path / "healthy.sqlite").read_bytes()

    result = synth("healthy", "-o", str(tmp_path), "--ranks", "1", "--steps", "2", "--seed", "2")

    assert result.exit_code == 0
    assert (tmp_path / "healthy.sqlite").read_bytes() != before


@pytest.mark.parametrize("name", ["healthy.sqlite", "healthy.truth.json"])
def test_no_other_file_is(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("{}")

    result = synth("healthy", "-o", str(tmp_path), "--ranks", "1", "--steps", "2")

    assert isinstance(result.exception, UsageError)
    assert f"{name} is there and is no synthetic file" in result.exception.message
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "{}")]


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    result = synth("healthy", "-o", str(tmp_path / "file"), "--ranks", "1", "--steps", "2")

    assert isinstance(result.exception, UsageError)
    assert result.exception.message == f"{tmp_path}/file is no folder."


FORMS = pytest.mark.parametrize("form", [("--format", "kineto"), ("--layout", "per-rank")])
TWO_RANKS = ("healthy", "--ranks", "2", "--steps", "2")


def break_off_the_second_file(monkeypatch: pytest.MonkeyPatch, end: Callable[[], object]) -> None:
    """Let the file of rank 1 hold a few bytes when its writer meets its ``end``."""
    written: list[Path] = []

    def broken(whole: Callable[[Any, Path], Path]) -> Callable[[Any, Path], Path]:
        def write(self: Any, path: Path) -> Path:
            if written:
                path.write_text("{")
                end()
            written.append(path)
            return whole(self, path)

        return write

    monkeypatch.setattr(Export, "write", broken(Export.write))
    monkeypatch.setattr(KinetoTrace, "write", broken(KinetoTrace.write))


def fill_the_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@FORMS
def test_on_a_full_disk_no_file_appears(
    form: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    break_off_the_second_file(monkeypatch, fill_the_disk)

    assert main(["synth", *TWO_RANKS, *form, "-o", str(tmp_path / "new" / "folder")]) == 3

    sentence, hint = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"nsysan: Cannot write .*/healthy-rank1\.[a-z.]+: No space left on device\.", sentence)
    assert hint == "  Make room there, or choose another folder."
    assert list(tmp_path.iterdir()) == []


@FORMS
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_that_is_interrupted_leaves_what_was_there(
    form: tuple[str, str], number: signal.Signals, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["synth", *TWO_RANKS, *form, "-o", str(tmp_path)]
    assert main(arguments) == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) == 3
    break_off_the_second_file(monkeypatch, lambda: signal.raise_signal(number))

    assert main([*arguments, "--seed", "7"]) == code
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_set_of_files_is_not_parted_by_a_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Path.replace

    def replace_and_signal(path: Path, target: Path) -> Path:
        signal.raise_signal(signal.SIGTERM)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", replace_and_signal)

    assert main(["synth", *TWO_RANKS, "--layout", "per-rank", "-o", str(tmp_path)]) == 0
    assert len(list(tmp_path.iterdir())) == 3


def test_a_database_that_is_full_says_so_like_a_disk(tmp_path: Path) -> None:
    with pytest.raises(MissingToolError, match=r"Cannot write .*: database or disk is full\."), writing(tmp_path, ""):
        raise sqlite3.OperationalError("database or disk is full")


def test_an_unknown_scenario_is_a_usage_error_that_names_the_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", "haelthy"]) == 2

    complaint = capsys.readouterr().err
    assert "There is no scenario 'haelthy'." in complaint
    listed = [line.split()[0] for line in synth("--list").output.splitlines()]
    assert complaint.splitlines()[1] == f"  Known are: {', '.join(listed)}."
    assert "communication-bound" in listed


def test_a_scenario_that_the_profiler_cannot_record_is_called_as_it_was_given() -> None:
    for name in ("graph-captured", "graph_captured"):
        refused = synth(name, "--format", "kineto").exception
        assert isinstance(refused, UsageError)
        assert refused.message.startswith("graph-captured records CUDA graphs as a whole")


@pytest.mark.parametrize("clock_error", ["nan", "-nan", "inf", "-inf", "-1", "10000.001", "soon"])
def test_a_clock_error_that_is_no_time_is_refused(
    clock_error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"

    assert main(["synth", *TWO_RANKS, "--layout", "per-rank", f"--clock-error={clock_error}", "-o", str(out)]) == 2
    assert "Invalid value for '--clock-error'" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (("--schema", "3.7"), "Only SQLite exports have a schema."),
        (("--schema", "3.25"), "Only SQLite exports have a schema."),
        (("--layout", "masked"), "PyTorch's profiler writes a file of each rank."),
        (("--layout", "one"), "PyTorch's profiler writes a file of each rank."),
        (("--trace", "cuda"), "PyTorch's profiler records CUDA calls, operators and GPU work, once."),
        (("--repeat", "2"), "PyTorch's profiler records CUDA calls, operators and GPU work, once."),
        (("--include-blobs",), "Only exports of schema 3.25 hold payloads of NVTX ranges."),
    ],
)
def test_what_a_profiler_trace_has_no_use_for_is_refused(
    option: tuple[str, ...], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["synth", *TWO_RANKS, "--format", "kineto", *option, "-o", str(tmp_path)]) == 2
    assert capsys.readouterr().err.splitlines()[0] == f"nsysan: {sentence}"
    assert list(tmp_path.iterdir()) == []


def test_a_profiler_trace_is_per_rank_also_where_that_is_said(tmp_path: Path) -> None:
    assert synth(*TWO_RANKS, "--format", "kineto", "--layout", "per-rank", "-o", str(tmp_path)).exit_code == 0
    assert len(list(tmp_path.iterdir())) == 3
