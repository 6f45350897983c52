"""A report in the working folder, and what analysing it gives or refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nsysan.cli.main import main
from nsysan.synth.export import Export

GEMM = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"


def write_report(name: str = "step.sqlite", **changes: Any) -> Path:
    """A small report with a secret in its environment."""
    export = Export(**changes).session(utc_epoch_ns=1_779_630_014_975_716_426).host("node1")
    export.environment("WANDB_API_KEY", "sk-secret").nvtx(0, 60_000, "loop")
    export.kernel(10_000, 40_000, GEMM).kernel(50_000, 90_000, "my_kernel")
    return export.write(Path(name))


def run_json(*arguments: str) -> dict[str, Any]:
    """The run that these reports give."""
    assert main(["analyze", *arguments, "--json", "out.json", "--force", "-q"]) == 0
    document: dict[str, Any] = json.loads(Path("out.json").read_text())
    return document


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit code and the complaint; nothing else is printed or written."""
    before = sorted(path.name for path in Path().iterdir())
    code = main(["analyze", *arguments])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert sorted(path.name for path in Path().iterdir()) == before
    return code, captured.err
