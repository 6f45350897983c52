"""A pytest fixture for projects that profile their own training step and hold it against a baseline.

pytest finds it by its entry point; nothing of nsysan is imported before the fixture is used.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

_PROFILE = ("--trace=cuda,nvtx,osrt", "--sample=none", "--cpuctxsw=none")
_LAST_CHARACTERS = 2_000
"""What a failing command said last tells most."""
_RECORDED = "Generating '"
"""nsys says it of the report, when the command has ended."""


class StepGate:
    """Profiles commands, and fails the test where runs have lost against a baseline of the project's history."""

    def __init__(self, folder: Path, store: Path, budgets: Path | None, *, keeps: bool) -> None:
        self._folder = folder
        self._store = store
        self._budgets = budgets
        self._keeps = keeps

    def profile(self, command: Sequence[str], *options: str) -> Path:
        """The report of ``command``, recorded by the newest nsys of the machine; ``options`` are more of nsys'.

        One profile runs at a time on a machine. Fails the test where the command fails, where nsys itself does, or
        where there is no nsys.
        """
        from nsysan.ingest.nsys.alone import profiling_alone
        from nsysan.ingest.nsys.installation import find_nsys

        nsys = find_nsys(None)
        if nsys is None:
            pytest.fail("There is no nsys on this machine to profile with.", pytrace=False)
        report = self._folder / f"run{len(list(self._folder.iterdir()))}.nsys-rep"
        asked = [nsys.executable, "profile", *_PROFILE, *options, "-o", str(report), *command]
        with profiling_alone():
            done = subprocess.run(asked, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 - the project's own command
        if done.returncode or not report.exists():
            said = done.stdout + done.stderr
            who = "The profiled command" if _RECORDED in said else "nsys, before it had recorded the command,"
            told = f"{who} failed with exit code {done.returncode}:\n{said[-_LAST_CHARACTERS:]}"
            pytest.fail(told, pytrace=False)
        return report

    def __call__(
        self, *runs: str | os.PathLike[str], against: str, conditions: Mapping[str, str] | None = None
    ) -> None:
        """Hold the runs (reports, folders of reports, ``run.json`` files) against the baseline, or add them to it.

        Fails the test, with the gate's sentences, where something was lost or cannot be judged. With
        ``--nsysan-keep`` the runs become repeats of the baseline instead.
        """
        from nsysan.history.judgement import Outcome
        from nsysan.model.errors import NsysanError
        from nsysan.pipeline.history import Source, details_now, gate_runs, keep_runs
        from nsysan.report.gate_text import render_gate

        source, paths = Source(self._store, conditions or {}), [Path(run) for run in runs]
        try:
            if self._keeps:
                keep_runs(paths, source, details_now(baseline=against))
                return
            result = gate_runs(paths, against, source, self._budgets)
        except NsysanError as error:
            pytest.fail(str(error), pytrace=False)
        if result.outcome is not Outcome.PASSED:
            pytest.fail(render_gate(result), pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the history lies, and whether runs are added to it."""
    parser.addini(
        "nsysan_history", "The file with the baselines, from the root folder.", default="nsysan-history.sqlite"
    )
    parser.addini("nsysan_budgets", "What may be lost, from the root folder.", default="nsysan.toml")
    group = parser.getgroup("nsysan")
    group.addoption(
        "--nsysan-keep", action="store_true", help="Add profiled runs to their baseline, and judge nothing."
    )


@pytest.fixture
def nsysan_gate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StepGate:
    """Profiles a training step, and holds it against a baseline."""
    config = request.config
    store, budgets = (config.rootpath / str(config.getini(name)) for name in ("nsysan_history", "nsysan_budgets"))
    folder = tmp_path_factory.mktemp("nsysan")
    return StepGate(folder, store, budgets if budgets.exists() else None, keeps=config.getoption("--nsysan-keep"))
