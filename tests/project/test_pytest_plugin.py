"""The fixture in a project of its own: repeats are kept, a run like them passes, one that waits for data fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import find_scenario
from tests.nsys import find_nsys

pytest.importorskip("sqlite_utils", reason="sqlite-utils is not installed")


def write(path: Path, scenario: str, seed: int) -> None:
    request = Request(scenario=find_scenario(scenario), rank_count=1, step_count=4, seed=seed)
    (export,) = generate(request).exports.values()
    export.write(path)


GATES = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("runs", {runs})
def test_step(nsysan_gate, runs):
    nsysan_gate(*map({kind}, runs), against="main", conditions={{"batch": "8"}})
"""
ALONE = ("-p", "no:hypothesispytest", "-p", "no:xdist")
"""Other plugins take longer to start than these tests."""


def test_a_project_gates_its_step(pytester: pytest.Pytester) -> None:
    repeats = [f"repeat{seed}.sqlite" for seed in range(6)]
    for seed, name in enumerate(repeats):
        write(pytester.path / name, "healthy", seed)
    write(pytester.path / "same.sqlite", "healthy", 9)
    write(pytester.path / "worse.sqlite", "data-bound", 9)

    pytester.makepyfile(GATES.format(kind="Path", runs=[repeats]))
    pytester.runpytest_inprocess(*ALONE, "--nsysan-keep").assert_outcomes(passed=1)
    pytester.makepyfile(GATES.format(kind="str", runs=[["same.sqlite"], ["worse.sqlite"]]))
    result = pytester.runpytest_inprocess(*ALONE)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["Failed against main: step has lost *", "*: idle by data loading*"])


def test_without_a_baseline_the_test_fails_and_says_so(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(GATES.format(kind="Path", runs=[["same.sqlite"]]))

    result = pytester.runpytest_inprocess(*ALONE)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*nsysan-history.sqlite*"])


PROFILES = """
def test_step(nsysan_gate):
    report = nsysan_gate.profile({command})
    assert report.stat().st_size > 0
"""


@pytest.mark.nsys
@pytest.mark.parametrize(
    ("command", "outcome", "line"),
    [
        (["true"], "passed", "*1 passed*"),
        (["sh", "-c", "echo out of memory; exit 3"], "failed", "*out of memory*"),
    ],
)
def test_a_command_is_profiled(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, command: list[str], outcome: str, line: str
) -> None:
    monkeypatch.setenv("NSYSAN_NSYS", find_nsys())
    pytester.makepyfile(PROFILES.format(command=command))

    result = pytester.runpytest_inprocess(*ALONE)

    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines([line])


NSYS = """#!/bin/sh
[ "$1" = --version ] && echo "NVIDIA Nsight Systems version 2023.4.4.54" && exit
echo "End of file" >&2
exit 1
"""


def test_a_profile_that_nsys_itself_could_not_make_is_not_blamed_on_the_command(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    nsys = pytester.path / "nsys"
    nsys.write_text(NSYS)
    nsys.chmod(0o755)
    monkeypatch.setenv("NSYSAN_NSYS", str(nsys))
    pytester.makepyfile(PROFILES.format(command=["true"]))

    result = pytester.runpytest_inprocess(*ALONE)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["nsys, before it had recorded the command, failed with exit code 1:", "End of file"])
