"""The recipe under a real nsys, in each of its modes, and the tables it writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from nsysan.analysis.registry import result_types
from nsysan.cli.main import main
from nsysan.model.run_json import decode_run
from nsysan.recipe.tables import tables_of
from nsysan.synth.export import Export
from tests.analysis.nccl_traces import ALL_REDUCE, MS
from tests.nsys import find_nsys, profile_ranges
from tests.report.runs import full_run

RECIPES = Path(__file__).parents[2] / "nsysan" / "recipe"


def _recipe(folder: Path, mode: str, *options: str) -> subprocess.CompletedProcess[str]:
    """nsys takes the python3 that is first on the path; a file is a report to it by the end of its name alone."""
    environment = {
        **os.environ,
        "NSYS_RECIPE_PATH": str(RECIPES),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = [find_nsys(), "recipe", "nsysan_overview", "--mode", mode, "--input", "reports", "--output", "out"]
    return subprocess.run(
        [*command, *options], cwd=folder, env=environment, check=False, capture_output=True, text=True, timeout=120
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "reports").mkdir()
    for rank in range(2):
        export = Export().kernel(10 * rank * MS, 33 * MS, ALL_REDUCE, pid=100 + rank)
        export.write(tmp_path / "reports" / f"rank{rank}.nsys-rep")
    return tmp_path


@pytest.mark.nsys
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="nsys 2023.4 runs recipes in Python up to 3.11")
@pytest.mark.parametrize("mode", ["none", "concurrent", "dask-futures"])
def test_the_recipe_writes_page_run_and_tables(folder: Path, mode: str) -> None:
    finished = _recipe(folder, mode)

    assert (finished.returncode, finished.stderr) == (0, "")
    out = folder / "out"
    run = decode_run((out / "run.json").read_bytes(), result_types())
    assert sorted(report.name for report in run.reports) == ["rank0.nsys-rep", "rank1.nsys-rep"]
    # rank 0 waits 10 ms for rank 1, and 23 ms are transfer
    [row] = pd.read_parquet(out / "collectives.parquet").to_dict("records")
    assert (row["kind"], row["transfer_ns"], row["wait_ns"]) == ("all_reduce", 23 * MS, 10 * MS)
    [pair] = pd.read_parquet(out / "rank_waits.parquet").to_dict("records")
    assert pair == {"rank": 0, "awaited_rank": 1, "wait_ns": 10 * MS}
    assert "Ranks waited 10.000" in (out / "nsysan.html").read_text(encoding="utf-8")
    assert (out / "out.nsys-analysis").exists()


@pytest.mark.nsys
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="nsys 2023.4 runs recipes in Python up to 3.11")
def test_reports_are_exported_by_the_nsys_that_runs_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # nothing but the command itself says where nsys is
    monkeypatch.delenv("NSYSAN_NSYS", raising=False)
    (tmp_path / "program.py").write_text("import nvtx\nwith nvtx.annotate('load'):\n    pass\n")
    report = profile_ranges(tmp_path, sys.executable, "program.py")
    (tmp_path / "reports").mkdir()
    report.rename(tmp_path / "reports" / report.name)

    finished = _recipe(tmp_path, "none")

    assert (finished.returncode, finished.stderr) == (0, "")
    run = decode_run((tmp_path / "out" / "run.json").read_bytes(), result_types())
    assert [(report.name, report.reader) for report in run.reports] == [("rank0.nsys-rep", "nsys_report")]


@pytest.mark.nsys
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="nsys 2023.4 runs recipes in Python up to 3.11")
def test_reports_of_which_none_can_be_read_are_one_sentence(folder: Path) -> None:
    for report in (folder / "reports").iterdir():
        report.write_bytes(b"")

    finished = _recipe(folder, "none")

    assert finished.returncode != 0
    assert "Traceback" not in finished.stderr
    assert "rank" in finished.stderr


def test_the_folder_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipe-path"]) == 0

    assert capsys.readouterr().out == f"{RECIPES}\n"
    assert (RECIPES / "nsysan_overview" / "metadata.json").exists()


def test_tables_have_a_row_an_entry_and_a_column_a_figure() -> None:
    run = full_run()

    found = tables_of(run)

    assert sorted(found) == [
        "collectives",
        "copies",
        "devices",
        "gpus",
        "kernels",
        "rank_waits",
        "ranks",
        "stragglers",
    ]
    assert found["gpus"]["time.idle_ns"].tolist() == [100 * MS, 250 * MS]
    assert found["stragglers"]["why.cause"].tolist()[0] == "clock_throttle"
