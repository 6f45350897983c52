"""``gate``: whether runs have lost anything against a baseline, figure by figure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from nsysan.history.budgets import DEFAULT_FIGURES, Budget, Budgets
from nsysan.history.comparison import Comparison, Obstacle, compare, obstacles_of
from nsysan.history.judgement import Judgement, Outcome, judge_figure
from nsysan.history.noise import MOST_REPEATS
from nsysan.history.outlying import outlying_warnings
from nsysan.history.snapshot import Snapshot
from nsysan.history.staleness import age_warnings, drift_warnings
from nsysan.model.figures import Bearing

GATE_SCHEMA_VERSION = 1


class GateResult(msgspec.Struct, frozen=True):
    """The verdict over all figures. ``refusals`` are conditions under which nothing is judged.

    ``comparison`` is of the repeat in the middle with the new run in the middle: what carries a loss.
    """

    schema_version: int
    outcome: Outcome
    baseline: str
    judgements: tuple[Judgement, ...]
    refusals: tuple[Obstacle, ...]
    warnings: tuple[str, ...]
    comparison: Comparison


def judge(
    name: str, repeats: Sequence[Snapshot], runs: Sequence[Snapshot], budgets: Budgets, latest: Snapshot | None = None
) -> GateResult:
    """Whether ``runs`` have lost anything against the ``repeats`` of the baseline called ``name``.

    ``latest`` is the run added to the history last, by which a baseline is found out that others have left behind. Of
    several figures each may raise its share of the false alarms.
    """
    repeats = repeats[-MOST_REPEATS:]
    asked = _asked(repeats, budgets)
    refusals = tuple(_refusals(repeats, runs))
    share = budgets.false_alarm / len(asked)
    judgements = tuple(judge_figure(figure, budget, repeats, runs, share) for figure, budget in asked.items())
    if refusals:
        # what runs of two different things differ by is no loss
        judgements = tuple(replace(one, outcome=Outcome.UNDECIDED) for one in judgements)
    middle = next(iter(asked))
    return GateResult(
        schema_version=GATE_SCHEMA_VERSION,
        outcome=_over_all([one.outcome for one in judgements], refusals),
        baseline=name,
        judgements=judgements,
        refusals=refusals,
        warnings=(
            *age_warnings(repeats, runs, budgets.max_age_days),
            *drift_warnings(judgements, runs, latest),
            *outlying_warnings(judgements, asked, repeats, runs, share),
        ),
        comparison=compare(_in_the_middle(repeats, middle), _in_the_middle(runs, middle)),
    )


def _asked(repeats: Sequence[Snapshot], budgets: Budgets) -> Mapping[str, Budget]:
    if budgets.figures:
        return budgets.figures
    known = (
        figures for figures in DEFAULT_FIGURES if all(one.figure(key) is not None for key in figures for one in repeats)
    )
    return next(known, DEFAULT_FIGURES[0])


def _refusals(repeats: Sequence[Snapshot], runs: Sequence[Snapshot]) -> Iterator[Obstacle]:
    """The forbidding differences of the first repeat from any other run, each once."""
    found = (obstacle for other in (*repeats[1:], *runs) for obstacle in obstacles_of(repeats[0], other, strict=True))
    yield from dict.fromkeys(obstacle for obstacle in found if obstacle.bearing is Bearing.FORBIDS)


def _over_all(outcomes: Collection[Outcome], refusals: Collection[Obstacle]) -> Outcome:
    """A refusal leaves all undecided; else a failure fails, and what could not be decided hides behind no pass."""
    if refusals:
        return Outcome.UNDECIDED
    return next((one for one in (Outcome.FAILED, Outcome.UNDECIDED) if one in outcomes), Outcome.PASSED)


def _in_the_middle(snapshots: Sequence[Snapshot], figure_id: str) -> Snapshot:
    """The run whose figure is the median, the lower of two; the last one where none knows it."""
    known = [(figure.value, place) for place, one in enumerate(snapshots) if (figure := one.figure(figure_id))]
    return snapshots[sorted(known)[(len(known) - 1) // 2][1]] if known else snapshots[-1]
