"""New runs that say nothing of the median they are judged by: one far from the others, one of the repeats itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from nsysan.history.budgets import Budget
from nsysan.history.judgement import Judgement, Outcome, judge_figure
from nsysan.history.snapshot import Snapshot
from nsysan.model.units import format_fraction


def outlying_warnings(
    judged: Sequence[Judgement],
    asked: Mapping[str, Budget],
    repeats: Sequence[Snapshot],
    runs: Sequence[Snapshot],
    false_alarm: float,
) -> Iterator[str]:
    """Where figures pass by the median of several runs: which of these lies further off than one run alone may."""
    for one in judged:
        if one.outcome is not Outcome.PASSED or len(runs) == 1:
            continue
        for place, run in enumerate(runs, 1):
            alone = judge_figure(one.figure, asked[one.figure], repeats, [run], false_alarm)
            if _lies_outside(alone):
                yield (
                    f"{one.name} passes by the median of {len(runs)} runs, but {_named(place, run)}, lies "
                    f"{_distance(alone)}"
                )


def repeat_warnings(runs: Mapping[str, Snapshot], repeat_ids: Collection[str]) -> Iterator[str]:
    """Which of the runs, by id, is one of the baseline's repeats: it is like itself whatever was lost."""
    for place, (run_id, run) in enumerate(runs.items(), 1):
        if run_id in repeat_ids:
            yield f"{_named(place, run)}, is one of the baseline's repeats, so that it passes tells nothing"


def _lies_outside(alone: Judgement) -> bool:
    if alone.outcome is Outcome.FAILED:
        return True
    return alone.limit is not None and alone.loss is not None and abs(alone.loss) > alone.limit


def _distance(alone: Judgement) -> str:
    if not alone.before or alone.after is None or alone.limit is None:
        return "outside its bounds"
    change_frac = (alone.after - alone.before) / abs(alone.before)
    way = "above" if change_frac > 0 else "below"
    return f"{format_fraction(abs(change_frac))} {way} the baseline's, more than one run may by itself"


def _named(place: int, run: Snapshot) -> str:
    """Which of the runs it is, its first report, and how many more it has: reports of several runs have one name."""
    first, *more = run.reports or ("no report",)
    return f"run {place}, {first}" + (f" and {len(more)} more" if more else "")
