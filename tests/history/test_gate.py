"""The gate: what passes, what fails, what cannot be judged, and why."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from nsysan.history.budgets import Budget, Budgets
from nsysan.history.comparison import Obstacle, obstacles_of
from nsysan.history.gate import GateResult, judge
from nsysan.history.judgement import Judgement, Outcome
from nsysan.history.noise import spread_of
from nsysan.history.snapshot import Snapshot
from nsysan.model.figures import Bearing, Better, Condition, Figure, Topic, Unit
from nsysan.model.results import Skipped
from tests.history.snapshots import MS, STEP, gpu_model, snapshot, step_figures

CASE_C87 = (100, 101, 99, 100, 102, 98, 100, 101)
EVEN = [100.0, 100.1, 99.9, 100.05, 99.95, 100.2, 99.8, 100.0]
BASELINE = Topic("baseline", "The baseline figures")


def steps(*times_ms: float) -> list[Snapshot]:
    """A run a step time."""
    return [snapshot(*step_figures(time_ms, 0, {})) for time_ms in times_ms]


def tokens(*rates: float) -> list[Snapshot]:
    return [snapshot(Figure(BASELINE, "tokens_per_s", "tokens", rate, Unit.PER_S, Better.MORE)) for rate in rates]


def against(
    repeats: list[Snapshot], runs: list[Snapshot], latest: Snapshot | None = None, **budget: float
) -> GateResult:
    """The verdict on the step, or on the only figure there is."""
    figure = repeats[0].figures[0].id
    budgets = Budgets(figures={figure: Budget(**budget)} if budget else {}, false_alarm=0.01)
    return judge("main", repeats, runs, budgets, latest)


@pytest.mark.parametrize(("relative", "outcome"), [(0.05, Outcome.PASSED), (0.02, Outcome.FAILED)])
def test_three_percent_more_pass_a_floor_of_five_and_fail_one_of_two(relative: float, outcome: Outcome) -> None:
    """Case C87: medians 100 and 103; the repeats' smallest quarter of distances ends at 1."""
    repeats, runs = steps(*CASE_C87), steps(*(time + 3 for time in CASE_C87))

    result = against(repeats, runs, relative=relative)

    assert spread_of(CASE_C87) == 1
    (found,) = result.judgements
    assert (found.before, found.after, found.loss) == (100 * MS, 103 * MS, 3 * MS)
    assert (result.outcome, found.outcome) == (outcome, outcome)


def test_the_same_runs_never_fail() -> None:
    """Case C87, A/A."""
    assert against(steps(*CASE_C87), steps(*CASE_C87), relative=0.0).outcome is Outcome.PASSED


def _draws(loss: float) -> float:
    """The share of 1,000 draws of ten repeats and one run, all with a spread of half a percent, that fail."""
    source = random.Random(7)

    def drawn(count: int, level_ms: float) -> list[Snapshot]:
        return steps(*(level_ms * (1 + source.gauss(0, 0.005)) for _ in range(count)))

    failed = (judge("main", drawn(10, 100), drawn(1, 100 * (1 + loss)), Budgets()).outcome for _ in range(1_000))
    return sum(outcome is Outcome.FAILED for outcome in failed) / 1_000


def test_nothing_changed_fails_less_than_once_in_a_hundred() -> None:
    assert _draws(0.0) < 0.01


def test_a_loss_of_three_percent_is_caught_nine_times_in_ten() -> None:
    assert _draws(0.03) >= 0.9


def test_more_is_better_for_some_figures() -> None:
    repeats = tokens(*(1_000 * value for value in EVEN))

    assert against(repeats, tokens(95_000), relative=0.01).outcome is Outcome.FAILED
    assert against(repeats, tokens(105_000), relative=0.01).outcome is Outcome.PASSED


def test_a_floor_of_its_own_unit_lets_small_losses_pass() -> None:
    assert against(steps(*EVEN), steps(103), absolute=2 * MS).outcome is Outcome.FAILED
    assert against(steps(*EVEN), steps(103), absolute=4 * MS).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("bound", "why"), [({"most": 99 * MS}, "it is over its max"), ({"least": 101 * MS}, "under its")]
)
def test_bounds_hold_whatever_the_baseline_says(bound: dict[str, float], why: str) -> None:
    result = against(steps(*EVEN), steps(100), None, **bound)

    assert result.outcome is Outcome.FAILED
    assert why in (result.judgements[0].why or "")


@pytest.mark.parametrize(
    ("times_ms", "told"),
    [
        ((100, 100.1, 160), ["run 3, rank0.sqlite, lies 60.0 % above"]),
        ((100, 40, 100.1), ["run 2, rank0.sqlite, lies 60.0 % below"]),
        ((100, 100.2, 99.9), []),
        ((160,), []),
        ((160, 161, 162), []),
    ],
)
def test_a_run_far_from_the_baseline_that_the_median_passes_is_warned_about(
    times_ms: tuple[float, ...], told: list[str]
) -> None:
    """Of a figure that failed the verdict says it."""
    warnings = against(steps(*EVEN), steps(*times_ms)).warnings

    start = "step passes by the median of 3 runs, but "
    assert list(warnings) == [f"{start}{one} the baseline's, more than one run may by itself" for one in told]


def test_a_run_outside_the_bounds_that_the_median_keeps_is_warned_about() -> None:
    assert against(steps(*EVEN), steps(100, 100.1, 160), most=120 * MS).warnings == (
        "step passes by the median of 3 runs, but run 3, rank0.sqlite, lies outside its bounds",
    )


def test_few_repeats_cannot_judge_unless_their_spread_is_known() -> None:
    few = steps(100, 100.1, 99.9)

    undecided = against(few, steps(104))

    assert undecided.outcome is Outcome.UNDECIDED
    assert undecided.judgements[0].why == (
        "6 repeats tell what chance does, and the baseline has 3; add repeats, or say their spread in a budget"
    )
    # z = 2.326 at one in a hundred; 2.326 * 0.5 ms * sqrt(pi / 2 / 3 + 1) = 1.436 ms
    known = against(few, steps(104), relative=0.0, spread=0.005)
    assert known.judgements[0].limit == pytest.approx(1.436 * MS, rel=1e-3)
    assert known.outcome is Outcome.FAILED


def test_noisy_repeats_let_no_one_believe_a_small_loss() -> None:
    assert against(steps(100, 108, 93, 104, 97, 101), steps(105), relative=0.01).outcome is Outcome.PASSED


@pytest.mark.parametrize(("name", "shown"), [("A100", "A100"), (None, None)])
def test_another_gpu_or_an_unknown_one_is_refused_by_name(name: str | None, shown: str | None) -> None:
    """Case C88."""
    repeats = [replace(run, conditions=(gpu_model("H100"),)) for run in steps(*EVEN)]
    run = replace(steps(100)[0], conditions=(gpu_model(name),))

    result = against(repeats, [run])

    assert result.outcome is Outcome.UNDECIDED
    assert result.refusals == (Obstacle("gpu_model", "GPU model", "H100", shown, Bearing.FORBIDS),)


def test_a_refused_run_has_lost_nothing_however_long_its_steps() -> None:
    repeats = [replace(run, conditions=(gpu_model("H100"),)) for run in steps(*EVEN)]
    run = replace(steps(200)[0], conditions=(gpu_model("A100"),))

    assert [one.outcome for one in against(repeats, [run]).judgements] == [Outcome.UNDECIDED]


@pytest.mark.parametrize(("now", "outcome"), [("256", "passed"), ("512", "undecided"), (None, "passed")])
def test_a_batch_that_only_a_log_tells_is_held_against_one_that_is_told_too(now: str | None, outcome: str) -> None:
    """Case C88."""

    def batch(size: str | None) -> tuple[Condition, ...]:
        known = Condition("global_batch", "global batch", size, Bearing.FORBIDS, is_beside=True)
        return () if size is None else (known,)

    repeats = [replace(run, conditions=batch("256")) for run in steps(*EVEN)]

    assert against(repeats, [replace(steps(100)[0], conditions=batch(now))]).outcome.value == outcome


@pytest.mark.parametrize(
    ("now", "told"), [("recorded", None), ("not recorded", Bearing.FORBIDS), (None, Bearing.CAUTIONS)]
)
def test_other_kinds_of_records_are_refused_where_both_runs_tell_theirs(now: str | None, told: Bearing | None) -> None:
    """Case C88, missing tables; runs that an older nsysan kept tell no kinds."""

    def ranges(value: str | None) -> tuple[Condition, ...]:
        return () if value is None else (Condition("recorded.nvtx_ranges", "NVTX ranges", value, Bearing.GATED),)

    before, after = (replace(steps(100)[0], conditions=ranges(value)) for value in ("recorded", now))

    assert [one.bearing for one in obstacles_of(before, after, strict=True)] == ([told] if told else [])
    assert {one.bearing for one in obstacles_of(before, after)} <= {Bearing.CAUTIONS}


def test_repeats_that_differ_among_themselves_are_refused_too() -> None:
    repeats = [replace(run, conditions=(gpu_model(str(place % 2)),)) for place, run in enumerate(steps(*EVEN))]

    assert [one.after for one in against(repeats, repeats[:1]).refusals] == ["1"]


def test_a_run_without_steps_cannot_be_judged_and_says_why() -> None:
    """Cases C64 and C88, missing tables."""
    others = (Skipped("memory", "no memory events", None), Skipped("steps", "the trace holds no GPU work", None))
    run = snapshot(skipped=others)

    result = against(steps(*EVEN), [*steps(100), run])

    assert result.outcome is Outcome.UNDECIDED
    assert result.judgements == (
        Judgement(
            "step.mean",
            "step",
            Unit.NS,
            Outcome.UNDECIDED,
            8,
            why="not every run knows it: the trace holds no GPU work",
        ),
    )


def test_what_could_not_be_judged_hides_behind_no_pass_and_no_failure_hides_behind_it() -> None:
    asked = Budgets(figures={"step.mean": Budget(), "step.nothing": Budget()})

    passing = judge("main", steps(*EVEN), steps(100), asked)
    failing = judge("main", steps(*EVEN), steps(110), asked)

    assert [one.outcome for one in passing.judgements] == [Outcome.PASSED, Outcome.UNDECIDED]
    assert (passing.outcome, failing.outcome) == (Outcome.UNDECIDED, Outcome.FAILED)


def test_a_figure_that_is_better_neither_way_takes_bounds_only() -> None:
    length = Figure(STEP, "length", "length", 5.0, Unit.NS)
    repeats = [snapshot(length)] * 8

    assert judge("main", repeats, repeats, Budgets(figures={length.id: Budget()})).outcome is Outcome.UNDECIDED
    assert judge("main", repeats, repeats, Budgets(figures={length.id: Budget(most=6)})).outcome is Outcome.PASSED


def test_each_of_several_figures_may_raise_its_share_of_the_false_alarms() -> None:
    repeats, run = steps(*EVEN), steps(100)
    one, two = (
        Budgets(figures={"step.mean": Budget()}),
        Budgets(figures={"step.mean": Budget(), "step_parts.computing": Budget()}),
    )

    alone, beside = (judge("main", repeats, run, asked).judgements[0].noise for asked in (one, two))

    assert alone is not None
    assert beside is not None
    assert beside > alone


def test_without_steps_how_busy_computing_was_is_judged() -> None:
    def busy(share: float) -> Snapshot:
        return snapshot(Figure(BASELINE, "compute_busy_frac", "compute busy", share, Unit.FRAC, Better.MORE))

    result = judge("main", [busy(0.8)] * 8, [busy(0.7)], Budgets())

    assert [(one.figure, one.outcome) for one in result.judgements] == [("baseline.compute_busy_frac", Outcome.FAILED)]


def test_a_loss_is_told_by_what_carries_it() -> None:
    repeats = [snapshot(*step_figures(80, 10, {"data_loading": 10 + time - 100})) for time in EVEN]
    run = snapshot(*step_figures(80, 10, {"data_loading": 20}))

    comparison = against(repeats, [run]).comparison

    assert comparison.carriers[0].key == "data_loading"
    assert comparison.carriers[0].change == pytest.approx(10 * MS)


def test_a_baseline_that_others_have_left_behind_is_stale() -> None:
    """Case C89: 7,000 tokens a second in the baseline, 12,000 in the run added last, 8,900 now."""
    repeats = tokens(*(70 * value for value in EVEN))

    result = against(repeats, tokens(8_900), tokens(12_000)[0], relative=0.01)

    assert result.outcome is Outcome.PASSED
    assert result.warnings == ("the baseline is stale: tokens passes, but has lost against the run added last",)


def test_a_baseline_that_is_beaten_is_stale() -> None:
    assert against(steps(*EVEN), steps(80)).warnings == (
        "the baseline is stale: step is better by more than it may lose; make these runs a new one",
    )


def test_an_old_baseline_is_warned_about() -> None:
    run = replace(steps(100)[0], created_utc="2026-05-01T00:00:00Z")

    assert against(steps(*EVEN), [run]).warnings == (
        "the baseline is stale: its newest repeat was analysed 120 days before these runs",
    )
    assert against(steps(*EVEN), [replace(run, created_utc="long ago")]).warnings == ()
