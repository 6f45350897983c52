"""A verdict for CI services: Markdown that shows names as they are, JUnit XML that passes nothing undecided."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from nsysan.history.budgets import Budget, Budgets
from nsysan.history.gate import GateResult, judge
from nsysan.history.judgement import Outcome
from nsysan.history.snapshot import Snapshot
from nsysan.model.figures import Bearing, Condition
from nsysan.report.gate_junit import encode_junit
from nsysan.report.gate_markdown import encode_markdown, escaped
from nsysan.report.gate_text import render_gate
from tests.history.snapshots import gpu_model, snapshot, step_figures

REPEATS = [snapshot(*step_figures(time_ms, 0, {})) for time_ms in (100, 100.1, 99.9, 100.05, 99.95, 100.2, 99.8, 100)]


def verdict(*runs: Snapshot, figures: tuple[str, ...] = (), repeats: list[Snapshot] = REPEATS) -> GateResult:
    return judge("main", repeats, runs, Budgets(figures={figure: Budget() for figure in figures}))


SLOWER = snapshot(*step_figures(120, 0, {}))


def test_what_is_not_the_same_is_said_where_it_forbids_nothing() -> None:
    def driver(version: str) -> tuple[Condition, ...]:
        return (Condition("software.driver", "NVIDIA driver", version, Bearing.CAUTIONS),)

    repeats = [replace(run, conditions=driver("550.54.15")) for run in REPEATS]

    text = render_gate(verdict(replace(REPEATS[0], conditions=driver("570.86.10")), repeats=repeats))

    assert text.startswith("Passed against main")
    assert "Not the same: NVIDIA driver: 550.54.15 before, 570.86.10 after.\n" in text


def test_names_that_budgets_and_runs_bring_reach_no_terminal_and_break_no_xml() -> None:
    named = "a\x01\x1b[31m<b>\ufffe"
    hostile = replace(SLOWER.figures[0], name=named)
    repeats, run = ([replace(one, figures=(hostile,)) for one in side] for side in (REPEATS, [SLOWER]))
    repeats[0] = replace(repeats[0], conditions=(gpu_model(named),))

    for result in (verdict(run[0], figures=(named,)), verdict(run[0], repeats=repeats), verdict(*run)):
        ET.fromstring(encode_junit(result))
        assert "\x1b" not in encode_markdown(result).decode() + render_gate(result)


def test_markdown_of_a_loss() -> None:
    head, *_, table, foot = encode_markdown(verdict(SLOWER)).decode().split("\n\n")

    assert head == r"**Failed against main\: step has lost 20\.0 %, 20\.000 ms\.**"
    assert [line.replace("\\", "") for line in table.splitlines()] == [
        "| Figure | baseline | repeats | now | change | limit | verdict |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
        "| step.mean | 100.000 ms | 8 | 120.000 ms | +20.000 ms | 1.000 ms | failed |",
    ]
    assert foot.startswith("Written by nsysan ")


def test_a_run_far_from_the_others_is_named_in_every_format() -> None:
    runs = [snapshot(*step_figures(100, 0, {}), name=f"r{number}") for number in (7, 1)]
    slow = snapshot(*step_figures(160, 0, {}), name="slow")

    result = verdict(*runs, slow)

    told = (
        "Warning: step passes by the median of 3 runs, but run 3, slow, lies 60.0 % above the baseline's, more than "
        "one run may by itself."
    )
    shown = ET.fromstring(encode_junit(result)).findtext("system-out") or ""
    assert result.outcome is Outcome.PASSED
    assert told in " ".join(render_gate(result).split())
    assert told in encode_markdown(result).decode().replace("\\", "")
    assert told in " ".join(shown.split())


def test_names_stay_names_in_markdown() -> None:
    hostile = "a|b <img src=x> [x](http://y) `z` @all"

    assert escaped(hostile) == r"a\|b \<img src=x\> \[x\]\(http\://y\) \`z\` \@all"


@pytest.mark.parametrize(
    ("result", "counts", "tags"),
    [
        (verdict(snapshot(*step_figures(100, 0, {}))), ("1", "0", "0"), []),
        (verdict(SLOWER), ("1", "1", "0"), ["failure"]),
        (verdict(SLOWER, figures=("step.mean", "step.other")), ("2", "1", "1"), ["failure", "error"]),
        (verdict(SLOWER, repeats=[SLOWER]), ("1", "0", "1"), ["error"]),
    ],
    ids=["passed", "failed", "figure missing", "too few repeats"],
)
def test_junit_has_a_test_a_figure(result: GateResult, counts: tuple[str, str, str], tags: list[str]) -> None:
    suite = ET.fromstring(encode_junit(result))

    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == counts
    assert [outcome.tag for outcome in suite.iterfind("testcase/*")] == tags
    assert [case.get("name") for case in suite.iterfind("testcase")] == [one.figure for one in result.judgements]


def test_junit_of_runs_that_cannot_be_compared() -> None:
    repeats = [replace(run, conditions=(gpu_model("H100"),)) for run in REPEATS]

    suite = ET.fromstring(encode_junit(verdict(replace(SLOWER, conditions=(gpu_model("A100"),)), repeats=repeats)))

    (case,) = suite.iterfind("testcase")
    (error,) = case
    assert (case.get("name"), error.tag) == ("gpu_model", "error")
    assert error.get("message") == "GPU model: H100 before, A100 after."
