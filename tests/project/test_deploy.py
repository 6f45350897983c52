"""The templates for CI services: their scripts run as services run them, and nothing they are given is a command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from nsysan.cli.main import main
from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import find_scenario

pytest.importorskip("sqlite_utils", reason="sqlite-utils is not installed")
DEPLOY = Path(__file__).parents[2] / "deploy"
BASH = shutil.which("bash") or ""


def template(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text())
    return found


def write(folder: Path, name: str, scenario: str, seed: int) -> str:
    request = Request(scenario=find_scenario(scenario), rank_count=1, step_count=4, seed=seed)
    (export,) = generate(request).exports.values()
    return str(export.write(folder / name))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a baseline, a run like it, one that waits for data, and nsysan where the templates install it."""
    repeats = [write(tmp_path, f"repeat{seed}.sqlite", "healthy", seed) for seed in range(6)]
    store = ["--store", str(tmp_path / "nsysan-history.sqlite")]
    assert main(["history", "add", *repeats, "--baseline", "main", "--condition", "batch=8", *store]) == 0
    write(tmp_path, "same $(touch hacked).sqlite", "healthy", 9)
    write(tmp_path, "worse.sqlite", "data-bound", 9)
    for environment in ("temporary/nsysan", ".nsysan"):
        (tmp_path / environment / "bin").mkdir(parents=True)
        program = tmp_path / environment / "bin" / "nsysan"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nsysan "$@"\n')
        program.chmod(0o755)
    return tmp_path


def run(script: str, project: Path, shell: list[str], **variables: str) -> int:
    home = {"PATH": os.environ["PATH"], "HOME": str(project)}
    command = [BASH, *shell, "-c", script] if BASH else []
    done = subprocess.run(command, cwd=project, env=home | variables, check=False, capture_output=True)
    return done.returncode


@pytest.mark.skipif(not BASH, reason="no bash on this machine")
def test_the_github_action(project: Path) -> None:
    action = template("github/action.yml")
    _, gate = action["runs"]["steps"]
    summary = project / "summary.md"
    summary.write_text("before\n")
    given = {"AGAINST": "main", "HISTORY": "nsysan-history.sqlite", "CONDITIONS": "batch=8\n"}
    where = {"RUNNER_TEMP": str(project / "temporary"), "GITHUB_STEP_SUMMARY": str(summary)}

    # every variable is an input of the action
    assert set(gate["env"].values()) == {f"${{{{ inputs.{name} }}}}" for name in action["inputs"] if name != "python"}
    shell = ["--noprofile", "--norc", "-eo", "pipefail"]
    assert run(gate["run"], project, shell, RUNS="\nsame $(touch hacked).sqlite\n", **given, **where) == 0
    assert run(gate["run"], project, shell, RUNS="worse.sqlite", **given, **where) == 1
    texts = summary.read_text().split("**")
    assert (texts[0], texts[1][:6], texts[3][:6]) == ("before\n", "Passed", "Failed")
    assert not (project / "hacked").exists()


@pytest.mark.skipif(not BASH, reason="no bash on this machine")
def test_the_gitlab_template(project: Path) -> None:
    job = template("gitlab/nsysan-gate.yml")[".nsysan-gate"]
    (script,) = job["script"]
    given = job["variables"] | {"NSYSAN_AGAINST": "main", "NSYSAN_CONDITIONS": "batch=8"}

    for runs, code in (("same $(touch hacked).sqlite", 0), ("worse.sqlite", 1)):
        assert run(script, project, ["-eo", "pipefail"], **given | {"NSYSAN_RUNS": runs}) == code
        assert all((project / path).exists() for path in job["artifacts"]["paths"])
    assert not (project / "hacked").exists()
