"""One figure of new runs held against the repeats of a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from statistics import median

import msgspec
from msgspec.structs import replace

from nsysan.history.budgets import Budget
from nsysan.history.noise import FEWEST_REPEATS, critical_ratio, known_noise, spread_of
from nsysan.history.snapshot import Snapshot
from nsysan.model.figures import Better, Figure, Unit


class Outcome(str, Enum):
    """What became of a figure, or of all."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Judgement(msgspec.Struct, frozen=True):
    """A figure held against its budget, in ``unit``.

    ``before`` and ``after`` are medians of the baseline's repeats and of the new runs. ``loss`` = after - before where
    less is better, before - after where more is. ``limit`` is what it may be: the largest of the floors and ``noise``,
    which chance exceeds as often as false alarms are put up with. ``why`` says what else failed, or what is missing.
    """

    figure: str
    name: str
    unit: Unit
    outcome: Outcome
    repeat_count: int
    before: float | None = None
    after: float | None = None
    loss: float | None = None
    noise: float | None = None
    limit: float | None = None
    why: str | None = None


def judge_figure(
    figure_id: str, budget: Budget, repeats: Sequence[Snapshot], runs: Sequence[Snapshot], false_alarm: float
) -> Judgement:
    """Whether the figure has lost more than its budget and chance allow, or why that cannot be told."""
    before, after = (_known(figure_id, side) for side in (repeats, runs))
    if not before or len(after) < len(runs):
        return _unknown(figure_id, before or after, repeats, runs)
    noise = _noise([figure.value for figure in before], len(after), budget, false_alarm)
    return _weighed(_measured(before, after, noise), before[0].better, budget)


def _known(figure_id: str, snapshots: Sequence[Snapshot]) -> list[Figure]:
    return [figure for one in snapshots if (figure := one.figure(figure_id)) is not None]


def _measured(before: Sequence[Figure], after: Sequence[Figure], noise: float | None) -> Judgement:
    """The figure with its medians and its loss, not judged yet."""
    first = before[0]
    old, new = (median(figure.value for figure in side) for side in (before, after))
    loss = {Better.LESS: new - old, Better.MORE: old - new, Better.NEITHER: None}[first.better]
    return Judgement(first.id, first.name, first.unit, Outcome.UNDECIDED, len(before), old, new, loss, noise)


def _weighed(found: Judgement, better: Better, budget: Budget) -> Judgement:
    broken = _broken_bound(found.after or 0.0, budget)
    if broken is not None:
        return replace(found, outcome=Outcome.FAILED, why=broken)
    if better is Better.NEITHER:
        if budget.most is None and budget.least is None:
            return replace(found, why="it is better neither way, so only max and min can judge it")
        return replace(found, outcome=Outcome.PASSED)
    if found.noise is None:
        few = f"{FEWEST_REPEATS} repeats tell what chance does, and the baseline has {found.repeat_count}"
        return replace(found, why=f"{few}; add repeats, or say their spread in a budget")
    limit = max(budget.relative * abs(found.before or 0.0), budget.absolute, found.noise)
    lost = (found.loss or 0.0) > limit
    return replace(found, outcome=Outcome.FAILED if lost else Outcome.PASSED, limit=limit)


def _broken_bound(value: float, budget: Budget) -> str | None:
    if budget.most is not None and value > budget.most:
        return "it is over its max"
    if budget.least is not None and value < budget.least:
        return "it is under its min"
    return None


def _unknown(
    figure_id: str, known: Sequence[Figure], repeats: Sequence[Snapshot], runs: Sequence[Snapshot]
) -> Judgement:
    """A figure that the baseline or some new run does not have: why, as far as the runs say what they cannot answer."""
    answered = {skipped.id for one in repeats for skipped in one.skipped}
    opened = [skipped for run in runs for skipped in run.skipped if skipped.id not in answered]
    # the question whose answer the figure is bears its first word: step_parts.idle is of steps
    opened.sort(key=lambda skipped: not skipped.id.startswith(figure_id.partition(".")[0].partition("_")[0]))
    because = f": {opened[0].reason}" if opened else ""
    name, unit = (known[0].name, known[0].unit) if known else (figure_id, Unit.COUNT)
    why = f"not every run knows it{because}" if known else "no run knows it"
    return Judgement(figure_id, name, unit, Outcome.UNDECIDED, len(_known(figure_id, repeats)), why=why)


def _noise(repeats: Sequence[float], run_count: int, budget: Budget, false_alarm: float) -> float | None:
    """What the loss exceeds by chance in ``false_alarm`` of cases; None where too few repeats tell it."""
    if budget.spread is not None:
        return known_noise(budget.spread * abs(median(repeats)), len(repeats), run_count, false_alarm)
    if len(repeats) < FEWEST_REPEATS:
        return None
    return critical_ratio(len(repeats), run_count, false_alarm) * spread_of(repeats)
