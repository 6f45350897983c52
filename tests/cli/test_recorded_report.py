"""A report that nsys records here and now goes through the whole command."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from nsysan.cli.main import main
from tests.nsys import find_nsys, profile_ranges

PROGRAM = """
import nvtx
for step in range(3):
    with nvtx.annotate(f"step {step}"):
        sum(range(1000))
"""


@pytest.mark.nsys
def test_a_report_of_a_program_without_gpu_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nsys = find_nsys()
    if importlib.util.find_spec("nvtx") is None:
        pytest.skip("nvtx is not installed")
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(PROGRAM)
    profile_ranges(tmp_path, sys.executable, "program.py")
    before = Path("rank0.nsys-rep").read_bytes()

    assert main(["analyze", "rank0.nsys-rep", "--nsys", nsys, "-o", "page.html", "--json", "run.json", "-q"]) == 0

    document = json.loads(Path("run.json").read_text())
    assert [report["name"] for report in document["reports"]] == ["rank0.nsys-rep"]
    assert {entry["reason"] for entry in document["skipped"]} == {"the trace holds no GPU work"}
    assert "the trace holds no GPU work" in Path("page.html").read_text()
    assert Path("rank0.nsys-rep").read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == ["page.html", "program.py", "rank0.nsys-rep", "run.json"]
