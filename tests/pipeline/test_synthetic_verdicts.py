"""The diagnosis of each synthetic scenario against its truth: class, cause, rank, and the same seed without it."""

from __future__ import annotations

import re
from statistics import mean
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.pipelines import Pipelines
from nsysan.analysis.step_losses import StepLosses
from nsysan.analysis.stragglers import Pattern, Stragglers
from nsysan.model.findings import Headline
from nsysan.model.losses import SLOW_COMPUTE, Bound
from nsysan.model.verdicts import BottleneckClass, ClassState, Severity
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.report.look_next import look_next
from nsysan.report.prose import plain
from nsysan.report.verdict import state_verdict
from nsysan.report.walk import walk_details
from nsysan.synth.generate import Generated, generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import Request
from nsysan.synth.scenario import Scenario, all_scenarios
from nsysan.synth.trace_kind import USUAL_KINDS, TraceKind
from tests.runs import result_of

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.run import Run

STEPS = 4
STEPS_OF = {"checkpoint": 7, "garbage_collection": 13, "rotating_ranks": 9}
"""Where some steps have the cause and others do not: as many as show how often, and each rank its turn."""
IN_START_UP = {"lazy_loading"}
"""What happens once is no part of the steady steps."""
NEEDS_CEILINGS = {"compute_bound"}
"""What only a measured ceiling of GEMMs shows."""
NEEDS_COUNTERS = {"memory_bound"}
"""What only sampled counters show."""
SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}
TOLD_ELSEWHERE = IN_START_UP | NEEDS_CEILINGS | NEEDS_COUNTERS
CAUSED = [name for name, scenario in SCENARIOS.items() if scenario.cause and name not in TOLD_ELSEWHERE]
SOUND = [name for name, scenario in SCENARIOS.items() if not scenario.cause]


def generated(scenario: Scenario) -> Generated:
    return generate(Request(scenario=scenario, rank_count=4, step_count=STEPS_OF.get(scenario.name, STEPS)))


def run_of(made: Generated, folder: Path) -> Run:
    return analyze([export.write(folder / file) for file, export in made.exports.items()], AnalyzeOptions())


def steady_step_ns(made: Generated) -> float:
    """The mean step of the slowest rank, of few without the first, which waits for the pipeline of launches to fill."""
    first = 1 if len(made.truth.ranks[0].steps) < STEPS else 0
    return max(mean(step.end_ns - step.start_ns for step in rank.steps[first:]) for rank in made.truth.ranks)


def headline_of(run: Run) -> Headline:
    assert run.diagnosis.headline is not None
    return run.diagnosis.headline


@pytest.mark.parametrize("name", CAUSED)
def test_the_headline_names_class_cause_and_rank_and_the_gain_is_within_5_percent(tmp_path: Path, name: str) -> None:
    scenario = SCENARIOS[name]
    assert scenario.without is not None
    made = generated(scenario)
    without = generated(replace(scenario, knobs=scenario.without, without=None))

    run = run_of(made, tmp_path)

    headline = headline_of(run)
    assert (headline.bottleneck_class, headline.cause) == (scenario.bottleneck_class, scenario.cause)
    assert headline.rank == made.truth.slow_rank
    finding = next(found for found in run.findings if found.id == headline.finding)
    assert finding.recoverable_ns == pytest.approx(steady_step_ns(made) - steady_step_ns(without), rel=0.05)
    assert finding.severity is Severity.CRITICAL
    assert finding.advice
    assert any(evidence.place is not None for evidence in finding.evidence)
    assert look_next(run) is not None


@pytest.mark.parametrize(
    ("name", "rank_count"),
    [
        ("garbage_collection", 2),
        ("garbage_collection", 4),
        ("rotating_ranks", 2),
        ("straggler_loader", 2),
        # the ranges of their messages tell stages from ranks that hand out tokens, without payloads too
        ("pipeline_bubble", 2),
        ("moe_skew", 2),
        ("moe_skew", 8),
        # two groups of eight ranks each exchange tokens among themselves
        ("moe_skew", 16),
    ],
)
def test_jobs_as_synth_writes_them_by_default_have_their_cause_too(tmp_path: Path, name: str, rank_count: int) -> None:
    # 8 steps: two pauses of a garbage collector in closed steps, and one in the open last
    made = generate(Request(scenario=SCENARIOS[name], rank_count=rank_count))

    run = run_of(made, tmp_path)

    headline = headline_of(run)
    assert (headline.cause, headline.rank) == (SCENARIOS[name].cause, made.truth.slow_rank)
    finding = next(found for found in run.findings if found.id == headline.finding)
    assert finding.recoverable_ns == pytest.approx(made.truth.recoverable.recoverable_ns, rel=0.05)


def test_ranks_that_take_turns_are_said_to(tmp_path: Path) -> None:
    run = run_of(generated(SCENARIOS["rotating_ranks"]), tmp_path)

    [finding] = [found for found in run.findings if found.id == "rotating_ranks"]
    assert finding.title.endswith("of a step: jitter, no bad node")
    assert [one.pattern for one in result_of(run, Stragglers).stragglers] == [Pattern.ROTATING] * 4


def test_rows_of_kernels_that_memory_bounds_are_the_headline_where_counters_were_sampled(tmp_path: Path) -> None:
    scenario = SCENARIOS["memory_bound"]
    for rank_count in (2, 8):
        kinds = USUAL_KINDS | {TraceKind.METRICS}
        made = generate(Request(scenario=scenario, rank_count=rank_count, step_count=STEPS, kinds=kinds))

        run = run_of(made, tmp_path)

        headline = headline_of(run)
        assert (headline.bottleneck_class, headline.cause) == (BottleneckClass.MEMORY, "non_gemm")
        finding = next(found for found in run.findings if found.id == headline.finding)
        assert finding.recoverable_ns == pytest.approx(made.truth.recoverable.recoverable_ns, rel=0.05)
        assert (finding.severity, finding.bound) == (Severity.CRITICAL, Bound.AT_MOST)
        # 84 % of the bandwidth, as simulated kernels of this kind have it
        [busy] = [found[1] for one in finding.evidence if (found := re.search(r"DRAM is ([\d.]+) %", one.sentence))]
        assert float(busy) == pytest.approx(84, abs=1)


@pytest.mark.parametrize(("name", "found"), [("memory_bound", True), ("compute_sound", False)])
def test_what_memory_bounds_is_known_from_sampled_counters_alone(tmp_path: Path, name: str, found: bool) -> None:  # noqa: FBT001
    kinds = USUAL_KINDS | {TraceKind.METRICS}
    sampled, unsampled = (
        generate(Request(scenario=SCENARIOS[name], rank_count=2, step_count=STEPS, kinds=chosen))
        for chosen in (kinds, USUAL_KINDS)
    )

    run = run_of(sampled, tmp_path)

    bound = [(one.bottleneck_class, one.cause) for one in run.findings if one.id == "memory_bandwidth"]
    assert bound == ([(BottleneckClass.MEMORY, "non_gemm")] if found else [])
    assert ("non_gemm" in {one.id for one in run.findings}) is found
    # what was not sampled is not known; what one kernel a row would spare at most is
    without = run_of(unsampled, tmp_path)
    assert "memory_bandwidth" not in {one.id for one in without.findings}
    assert without.diagnosis.headline is None
    assert (" as one kernel each they would spare at most " in (without.diagnosis.why or "")) is found
    # 30 % of a step is not ok only because nobody looked
    memory = without.diagnosis.classes[BottleneckClass.MEMORY]
    assert (memory.state, memory.recoverable_ns is None) == (ClassState.UNKNOWN if found else ClassState.OK, found)
    assert ("No cause that was measured" in (without.diagnosis.why or "")) is found


@pytest.mark.parametrize("includes_blobs", [False, True], ids=["names", "payloads"])
def test_a_pipeline_bubble_is_named_whether_waits_are_known_or_not(
    tmp_path: Path,
    includes_blobs: bool,  # noqa: FBT001
) -> None:
    scenario = SCENARIOS["pipeline_bubble"]
    made = generate(Request(scenario=scenario, rank_count=4, step_count=STEPS, includes_blobs=includes_blobs))
    assert scenario.without is not None
    without = generated(replace(scenario, knobs=scenario.without, without=None))

    run = run_of(made, tmp_path)

    assert headline_of(run).cause == "pipeline_bubble"
    assert run.diagnosis.classes[BottleneckClass.SCHEDULING].state is ClassState.PROBLEM
    [finding] = [found for found in run.findings if found.cause == "pipeline_bubble"]
    assert finding.recoverable_ns == pytest.approx(steady_step_ns(made) - steady_step_ns(without), rel=0.05)
    # 4 stages and 4 parts: 3 / 7
    words = [one.sentence for one in finding.evidence if one.source == Pipelines.id]
    assert [sentence.endswith("4 parts a step alone make 42.9 %.") for sentence in words] == [True] * includes_blobs
    assert result_of(run, StepLosses).step_losses.waiting_ns == 0


def two_ranks_of(scenario: Scenario, folder: Path, kinds: frozenset[TraceKind] = USUAL_KINDS) -> Run:
    return run_of(generate(Request(scenario=scenario, rank_count=2, step_count=STEPS, kinds=kinds)), folder)


def test_waiting_that_nobody_is_named_for_is_no_clean_bill(tmp_path: Path) -> None:
    # of 2 stages messages without a range do not tell which is late
    run = two_ranks_of(SCENARIOS["pipeline_bubble"], tmp_path, frozenset({TraceKind.CUDA}))

    assert run.diagnosis.headline is None
    why = run.diagnosis.why or ""
    assert why.startswith("No verdict: ranks wait for each other, ")
    assert why.endswith("no rank comes late to collectives, and messages between two do not tell whose work is late.")


def test_of_two_ranks_that_send_to_each_other_the_whole_excess_is_a_bound(tmp_path: Path) -> None:
    # if it is one load that they share, as here, half the excess remains; without a range it may be anything
    run = two_ranks_of(SCENARIOS["moe_skew"], tmp_path, frozenset({TraceKind.CUDA}))

    [late] = [loss for loss in result_of(run, StepLosses).step_losses.causes if loss.cause == SLOW_COMPUTE]
    assert late.bound is Bound.AT_MOST
    assert headline_of(run).rank == 1


def test_a_larger_class_without_a_finding_does_not_hide_the_next(tmp_path: Path) -> None:
    scenario = SCENARIOS["launch_bound"].without_cause()
    run = two_ranks_of(replace(scenario, knobs=replace(scenario.knobs, bus_bytes_per_s=450e9)), tmp_path)

    verdicts = run.diagnosis.classes
    assert verdicts[BottleneckClass.SCHEDULING].state is verdicts[BottleneckClass.COMMUNICATION].state
    headline = headline_of(run)
    assert (headline.bottleneck_class, headline.cause) == (BottleneckClass.COMMUNICATION, "exposed_collective")
    assert headline.sentence.startswith("Communication is the largest loss with a remedy: ")
    told = [plain(sentence) for sentence in walk_details(run)]
    assert [sentence for sentence in told if sentence.startswith("By size: scheduling with ")]


def test_what_no_remedy_is_known_for_is_said_where_nothing_else_is(tmp_path: Path) -> None:
    # of some 100 kernels each begins 1 us after the one before: 12 % of 0.8 ms
    run = two_ranks_of(SCENARIOS["launch_bound"].without_cause(), tmp_path)

    assert run.diagnosis.headline is None
    assert re.match(
        r"No cause but handover, 10\d\.\d+ of 8\d\d\.\d+ µs a step \(12\.\d %\), costs 2\.0 % of the mean step or more",
        run.diagnosis.why or "",
    )


@pytest.mark.parametrize("name", SOUND)
def test_sound_jobs_have_no_class_that_is_a_problem(tmp_path: Path, name: str) -> None:
    states = {
        one: verdict.state for one, verdict in run_of(generated(SCENARIOS[name]), tmp_path).diagnosis.classes.items()
    }

    assert ClassState.PROBLEM not in states.values()
    assert states[BottleneckClass.COMPUTE] is ClassState.UNKNOWN


@pytest.mark.parametrize("rank_count", [2, 8])
@pytest.mark.parametrize("name", SCENARIOS)
def test_nobody_is_warned_of_anything_where_nothing_holds_a_job_back(
    tmp_path: Path, name: str, rank_count: int
) -> None:
    scenario = SCENARIOS[name]
    sound = scenario if scenario.without is None else scenario.without_cause()

    run = run_of(generate(Request(scenario=sound, rank_count=rank_count, step_count=STEPS)), tmp_path)

    assert run.diagnosis.headline is None
    assert [found.id for found in run.findings if found.severity is not Severity.INFO] == []


def test_graphs_that_left_no_record_leave_no_verdict_on_what_looks_idle(tmp_path: Path) -> None:
    # nsys 2023.4 keeps no whole graphs: each layer's kernels are missing, forward and backward, in 4 steps on 4 ranks
    made = generate(Request(scenario=SCENARIOS["graph_captured"], rank_count=4, step_count=STEPS, schema="3.7"))

    run = run_of(made, tmp_path)

    told = "128 CUDA graph launches left no record of what ran, so what looks idle may have been busy"
    assert (run.diagnosis.headline, run.diagnosis.why) == (None, f"No verdict: {told}.")
    assert {verdict.state for verdict in run.diagnosis.classes.values()} == {ClassState.UNKNOWN}
    assert [one.id for one in run.findings if one.severity is not Severity.INFO] == ["unseen_graphs"]
    [held] = [one for one in run.findings if one.id == "held_work"]
    assert held.evidence[0].sentence == f"Doubtful, for {told}."


def test_slow_gemms_are_not_called_healthy_without_a_ceiling(tmp_path: Path) -> None:
    run = run_of(generated(SCENARIOS["compute_bound"]), tmp_path)

    assert run.diagnosis.headline is None
    assert run.diagnosis.classes[BottleneckClass.COMPUTE].state is ClassState.UNKNOWN
    assert "computing itself may be slow" in (state_verdict(run).why or "")


def test_what_happens_once_is_told_as_such(tmp_path: Path) -> None:
    made = generated(SCENARIOS["lazy_loading"])

    run = run_of(made, tmp_path)

    # no step is won by what is lost once, but the verdict says it
    assert run.diagnosis.headline is None
    told = re.search(
        r"\. Starting up, once, costs ([\d.]+) ms of waiting for code to be loaded\.", run.diagnosis.why or ""
    )
    truth_ns = [rank.idle_causes["module_loading_ns"] for rank in made.truth.ranks]
    assert told is not None
    assert float(told[1]) * 1e6 == pytest.approx(max(truth_ns), rel=0.05)
    finding = next(found for found in run.findings if found.id == "start_up")
    assert (finding.bottleneck_class, finding.cause) == (BottleneckClass.SCHEDULING, "module_loading")
    assert (finding.severity, finding.recoverable_ns) == (Severity.INFO, 0)
    start_ups = [device.start_up for device in result_of(run, GpuTime).devices]
    found_ns = [0 if one is None else one.idle_causes.module_loading_ns for one in start_ups]
    assert found_ns == pytest.approx(truth_ns, rel=0.05)


def test_a_missing_rank_leaves_open_what_it_did(tmp_path: Path) -> None:
    # rank 1 waits for its loader, and the ranks that wait for it may as well have waited for the one that is missing
    request = Request(
        scenario=SCENARIOS["straggler_loader"],
        rank_count=4,
        step_count=STEPS,
        layout=Layout.PER_RANK,
        omitted_ranks=frozenset({3}),
    )

    diagnosis = run_of(generate(request), tmp_path).diagnosis

    assert diagnosis.headline is None
    assert diagnosis.why == (
        "No verdict: 1 of 4 ranks is missing, and what those did may be what the others waited for."
    )
    assert {verdict.state for verdict in diagnosis.classes.values()} == {ClassState.UNKNOWN}


def test_ranks_that_wait_for_one_without_a_report_do_not_blame_communication(tmp_path: Path) -> None:
    # rank 1 computes 1.4 times as long, and the others wait for it in each all-reduce
    request = Request(
        scenario=SCENARIOS["straggler_compute"],
        rank_count=4,
        step_count=STEPS,
        layout=Layout.PER_RANK,
        omitted_ranks=frozenset({1}),
    )

    diagnosis = run_of(generate(request), tmp_path).diagnosis

    assert diagnosis.headline is None
    assert re.fullmatch(
        "No verdict: 1 of 4 ranks is missing, and what those did may be what the others waited for, "
        r"[\d.]+ of [\d.]+ ms a step \([\d.]+ %\) at most\.",
        diagnosis.why or "",
    )
    assert diagnosis.classes[BottleneckClass.COMMUNICATION].state is ClassState.UNKNOWN
