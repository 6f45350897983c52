"""Runs of a history as tables for a terminal or a log."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.history.change_points import FEWEST, ChangePoint, change_points
from nsysan.history.store import KeptRun
from nsysan.model.figures import Figure
from nsysan.model.text import visible_text
from nsysan.model.units import counted
from nsysan.report.columns import aligned, cut, drawn, wrapped
from nsysan.report.comparison.quantities import quantity, signed_fraction
from nsysan.report.prose import listed

LISTED_FIGURES = ("step.mean", "baseline.compute_busy_frac")
_HEADS = ("step", "busy")
_NAME_CELLS = 36


def render_list(runs: Sequence[KeptRun]) -> str:
    """A line a run: its id, what it is of, when it was added, commit, baselines, and the two figures that say most."""
    heads = ("Run", "reports", "added (UTC)", "commit", "baselines", *_HEADS)
    rows = [[visible_text(cell) for cell in _entry(run)] for run in runs]
    return "\n".join(aligned([heads, *rows], 160)) + "\n"


def render_show(run: KeptRun) -> str:
    """Everything kept of a run but its kernels: conditions, findings and figures."""
    kept = run.snapshot
    about = (
        f"Run {run.id} of {listed(kept.reports)}",
        f"Added {run.added_utc}, analysed {kept.created_utc} by nsysan {kept.nsysan_version}",
        *((f"Commit {run.commit}",) if run.commit else ()),
        *((f"In the baselines {listed(run.baselines)}",) if run.baselines else ()),
        *(f"{key}: {value}" for key, value in run.labels.items()),
    )
    blocks = (
        [line for sentence in about for line in wrapped(sentence)],
        drawn(("Condition", ""), [(one.name, cut(one.value or "not known", 60)) for one in kept.conditions]),
        [line for one in kept.findings for line in wrapped(f"{one.severity.value}: {one.title}")],
        drawn(("Figure", ""), [(figure.id, quantity(figure.value, figure.unit)) for figure in _told(run)]),
    )
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def render_trend(figure: Figure, runs: Sequence[KeptRun]) -> str:
    """A figure over the runs that know it, with a mark where its level changes."""
    known = [(run, value) for run in runs if (value := run.value_of(figure.id)) is not None]
    changes = change_points([value for _, value in known])
    starts = {change.place: change for change in changes}
    rows = [
        (
            f"{run.id}  {run.added_utc}",
            cut(run.commit or "", 12),
            quantity(value, figure.unit),
            _mark(starts.get(place)),
        )
        for place, (run, value) in enumerate(known)
    ]
    lines = drawn((f"{figure.name} ({figure.id})", "commit", "", ""), rows)
    return "\n".join([*lines, "", *wrapped(_summary(len(known), changes))]) + "\n"


def _entry(run: KeptRun) -> tuple[str, ...]:
    figures = [run.snapshot.figure(figure_id) for figure_id in LISTED_FIGURES]
    return (
        run.id,
        cut(listed(run.snapshot.reports), _NAME_CELLS),
        run.added_utc,
        cut(run.commit or "", 12),
        cut(", ".join(run.baselines), 20),
        *("" if figure is None else quantity(figure.value, figure.unit) for figure in figures),
    )


def _told(run: KeptRun) -> list[Figure]:
    return [figure for figure in run.snapshot.figures if "kernel" not in figure.topic.id]


def _mark(change: ChangePoint | None) -> str:
    return "" if change is None else f"from here {signed_fraction(change.change_frac)}"


def _summary(count: int, changes: Sequence[ChangePoint]) -> str:
    if count < FEWEST:
        return f"{counted(count, 'run')}: too few to tell a change of level, which takes {FEWEST}."
    return f"{counted(len(changes), 'change')} of level in {counted(count, 'run')}."
