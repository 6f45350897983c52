"""Baselines that others have left behind: too old, or so much worse that a loss would pass unseen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from nsysan.history.comparison import obstacles_of
from nsysan.history.judgement import Judgement, Outcome
from nsysan.history.snapshot import Snapshot
from nsysan.model.figures import Bearing, Better

_DAY_S = 86_400


def age_warnings(repeats: Sequence[Snapshot], runs: Sequence[Snapshot], max_age_days: int) -> Iterator[str]:
    """That the newest repeat was analysed so many days before the new runs."""
    ours, theirs = (list(filter(None, map(_analysed, side))) for side in (repeats, runs))
    if not ours or not theirs:
        return
    days = (max(theirs) - max(ours)).total_seconds() / _DAY_S
    if days > max_age_days:
        yield f"the baseline is stale: its newest repeat was analysed {days:.0f} days before these runs"


def drift_warnings(judged: Sequence[Judgement], runs: Sequence[Snapshot], latest: Snapshot | None) -> Iterator[str]:
    """Where a loss passes because the baseline is worse than runs are now.

    That is so where the runs have lost against the one added to the history last, and where they are better than the
    baseline by more than they may lose.
    """
    comparable = latest if latest is not None and not any(is_forbidden(latest, run) for run in runs) else None
    for one in judged:
        if one.outcome is not Outcome.PASSED or one.limit is None or one.loss is None:
            continue
        if _loss_against(comparable, one) > one.limit:
            yield f"the baseline is stale: {one.name} passes, but has lost against the run added last"
        elif -one.loss > one.limit:
            yield f"the baseline is stale: {one.name} is better by more than it may lose; make these runs a new one"


def is_forbidden(one: Snapshot, other: Snapshot) -> bool:
    """Whether two runs tell of different things."""
    return any(obstacle.bearing is Bearing.FORBIDS for obstacle in obstacles_of(one, other, strict=True))


def _loss_against(latest: Snapshot | None, one: Judgement) -> float:
    last = None if latest is None else latest.figure(one.figure)
    if last is None or one.after is None:
        return 0.0
    return one.after - last.value if last.better is Better.LESS else last.value - one.after


def _analysed(snapshot: Snapshot) -> datetime | None:
    """When the run was analysed; None where somebody changed that into no time."""
    try:
        return datetime.strptime(snapshot.created_utc, "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        return None
