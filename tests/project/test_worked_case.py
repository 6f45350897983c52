"""The worked case says what nsysan finds: its figures, the order of its measures, its doubts, and what was won."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.analysis.baseline import Baseline
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.steps import Steps
from nsysan.history.comparison import Comparison, compare
from nsysan.history.snapshot import snapshot_of
from nsysan.pipeline.saved_run import load_run
from nsysan.planning.throughput import Throughput
from nsysan.report.formats.text import render_text
from nsysan.synth.generate import generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import Request
from nsysan.synth.scenario import find_scenario
from tests.project.commands import Workplace
from tests.project.markdown import documents, run_again
from tests.project.repository import ROOT
from tests.runs import result_of

if TYPE_CHECKING:
    from nsysan.model.run import Run

CASE = documents()["docs/worked-case.md"]
MEASURES = re.compile(r"^\| (?:reduce|share|have) .*\| ([\d.]+) ms \| ([\d.]+) ms \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """The run of each column of the table, by the document's own commands."""
    work = Workplace(tmp_path_factory.mktemp("case"))
    for log in (ROOT / "docs" / "worked-case").iterdir():
        shutil.copy(log, work.folder)
    assert run_again(CASE, work.run) == CASE
    return {name: load_run(work.folder / f"{name}.json") for name in ("64", "128", "mended")}


def percent(frac: float) -> str:
    return f"{100 * frac:.1f} %"


def column(run: Run) -> list[str]:
    """What the case's table says of a run."""
    job, scaling = result_of(run, GpuTime).job, None
    if run.options["smaller"] is not None:
        scaling = result_of(run, Throughput).throughput.scaling
    steps_ns = [device.mean_ns or 0.0 for device in result_of(run, Steps).steps.devices]
    return [
        percent(job.compute_busy_frac.mean_frac or 0.0),
        percent(job.time.exposed_communication.mean_frac),
        percent(job.time.idle.mean_frac),
        f"{sum(steps_ns) / len(steps_ns) / 1e9:.3f} s",
        "-" if scaling is None else percent(scaling.efficiency),
    ]


def test_the_table_has_the_figures_of_the_runs(runs: dict[str, Run]) -> None:
    rows = [
        re.split(r" ?\| ?", line)[1:-1] for line in CASE.splitlines() if re.match(r"\| .* \| .* \| .* \| .* \|", line)
    ]
    shown = [row for row in rows if row[0] not in {"figure", "tokens per second, whole job, by the log"}]

    assert list(zip(*[row[1:] for row in shown], strict=True)) == [tuple(column(run)) for run in runs.values()]


def test_the_figures_are_those_of_the_notes(runs: dict[str, Run]) -> None:
    """92 % and 8 % become 71 % and 27 %; 58 % of what was expected becomes 92 %."""
    rounded = [[round(float(cell.split()[0])) for cell in column(run)[:2]] for run in runs.values()]
    assert rounded[:2] == [[92, 8], [71, 27]]
    efficiencies = [round(float(column(runs[name])[4].split()[0])) for name in ("128", "mended")]
    assert efficiencies == [round(100 * 2.1 / 3.6), round(100 * 3.3 / 3.6)]


def test_the_measures_are_ranked_by_what_they_win_which_is_what_each_wins_alone(runs: dict[str, Run]) -> None:
    [finding] = [found for found in runs["128"].findings if found.id == "across_nodes"]
    told = [one.sentence for one in finding.evidence if one.sentence.startswith("Measure")]
    won_ms = [float(re.findall(r"at most ([\d.]+) ms", sentence)[0]) for sentence in told]

    assert [sentence.split()[2] for sentence in told] == ["reduce", "move", "have"]
    assert won_ms == sorted(won_ms, reverse=True)
    alone_ms = [
        won_alone_ms(**knobs)
        for knobs in ({"reduces_each_part": False}, {"gradient_share": 64 / 127}, {"loader_ns": 0})
    ]
    assert won_ms == pytest.approx(alone_ms, rel=0.02)
    shown = [tuple(map(float, row)) for row in MEASURES.findall(CASE)]
    assert [by_arithmetic for by_arithmetic, _ in shown] == pytest.approx(won_ms, abs=0.06)
    assert [simulated for _, simulated in shown] == pytest.approx(alone_ms, rel=0.01)


def won_alone_ms(**knobs: object) -> float:
    """By how much the mean step of the 128 GPUs gets shorter where nothing else changes."""
    scenario = find_scenario("case_128_gpus")
    slower = scenario.knobs.straggler
    assert slower is not None
    changed = replace(scenario.knobs, straggler=replace(slower, **knobs), **knobs)
    return step_ms(scenario.name) - step_ms(scenario.name, knobs=changed)


def step_ms(name: str, **changes: object) -> float:
    scenario = replace(find_scenario(name), **changes)
    request = Request(scenario=scenario, rank_count=4, step_count=4, layout=Layout.PER_RANK)
    ranks = generate(request).truth.ranks
    means = [(rank.steps[-1].end_ns - rank.steps[1].start_ns) / (len(rank.steps) - 1) for rank in ranks]
    return sum(means) / len(means) / 1e6


def test_the_notes_are_questioned(runs: dict[str, Run]) -> None:
    doubts = {found.title for found in runs["128"].findings if found.id.startswith("doubted")}

    assert doubts == {
        "A busbw of 3.200 GB/s is more than its link carries: 25 Gb/s are 3.125 GB/s",
        "22.000 GB/s inside a node are unusual: NVLink of H100 SXM carries 450.000 GB/s",
        "64 ranks a node are unusual: nodes have up to 16 GPUs",
        'Tokens per second "of one GPU" that grow 2 times with 2 times the GPUs are those of all',
    }
    assert {found.id for found in runs["mended"].findings if found.id.startswith("doubted")} == {"doubted_throughput"}


def test_the_text_tells_measures_and_doubts_in_55_lines(runs: dict[str, Run]) -> None:
    lines = render_text(runs["128"]).splitlines()

    assert len(lines) <= 55
    assert [line for line in lines if line.startswith("measure")] == [
        "measure 1, at most 197.845 ms: reduce gradients once a step",
        "measure 2, at most 196.287 ms: move data parallelism inside nodes to tensor or pipeline parallelism",
        "measure 3, at most 42.175 ms: have batches at hand",
    ]
    assert [line for line in lines if line.startswith("warning: ")] == [
        "warning: A busbw of 3.200 GB/s is more than its link carries: 25 Gb/s are 3.125 GB/s",
        'warning: Tokens per second "of one GPU" that grow 2 times with 2 times the GPUs are those of all',
    ]


def test_the_gain_is_over_20_percent(runs: dict[str, Run]) -> None:
    found: Comparison = compare(snapshot_of(runs["128"]), snapshot_of(runs["mended"]))

    assert found.whole is not None
    assert found.whole.change_frac is not None
    assert round(-100 * found.whole.change_frac, 1) == 36.6
    assert 1 / (1 + found.whole.change_frac) == pytest.approx(3.3 / 2.1, abs=0.01)
    assert [obstacle.id for obstacle in found.obstacles] == []


def test_tokens_of_the_log_agree_with_the_steps(runs: dict[str, Run]) -> None:
    """The log is made for the traces: no rule says that they disagree on the step."""
    assert [found for run in runs.values() for found in run.findings if found.id == "log_step_time"] == []
    told = [result_of(run, Baseline).baseline.tokens_per_s_source for run in runs.values()]
    assert [source is not None and source.startswith("train-") for source in told] == [True, True, True]
