"""Two runs' figures side by side, by topic."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nsysan.model.figures import Better, Figure, Topic, Unit


class Difference(msgspec.Struct, frozen=True):
    """A figure before and after, in ``unit``; None where a run does not know it, or has no such kernel.

    ``change`` = after - before; ``change_frac`` = change / before, None where that is 0. ``noise`` is what a change has
    to exceed to be more than the spread within the runs: two standard errors of the difference; None where unknown.
    """

    id: str
    key: str
    name: str
    unit: Unit
    better: Better
    part_of: str | None
    before: float | None
    after: float | None
    change: float | None
    change_frac: float | None
    noise: float | None

    @property
    def moved(self) -> float:
        """The change, where what a run does not have counts as nothing, as with a kernel that it does not run."""
        return (self.after or 0.0) - (self.before or 0.0)

    @property
    def is_noise(self) -> bool:
        """Whether the runs themselves spread as much as they differ."""
        return self.noise is not None and self.change is not None and abs(self.change) <= self.noise


class TopicDifferences(msgspec.Struct, frozen=True):
    """The figures of a topic, those of the run before in its order, then what is new."""

    id: str
    title: str
    differences: tuple[Difference, ...]


def differences_of(before: Sequence[Figure], after: Sequence[Figure]) -> tuple[TopicDifferences, ...]:
    """Every figure of either run, by topic, in the order of the runs."""
    ours, theirs = ({figure.id: figure for figure in figures} for figures in (before, after))
    topics: dict[Topic, list[Difference]] = {}
    for figure_id in {**ours, **theirs}:
        first, second = ours.get(figure_id), theirs.get(figure_id)
        known = first or second
        if known is not None:
            topics.setdefault(known.topic, []).append(_difference(known, first, second))
    return tuple(TopicDifferences(topic.id, topic.title, tuple(found)) for topic, found in topics.items())


def _difference(known: Figure, before: Figure | None, after: Figure | None) -> Difference:
    change = None if before is None or after is None else after.value - before.value
    return Difference(
        id=known.id,
        key=known.key,
        name=known.name,
        unit=known.unit,
        better=known.better,
        part_of=known.part_of,
        before=None if before is None else before.value,
        after=None if after is None else after.value,
        change=change,
        change_frac=None if change is None or before is None or not before.value else change / before.value,
        noise=_noise(before, after),
    )


def _noise(before: Figure | None, after: Figure | None) -> float | None:
    if before is None or after is None or before.standard_error is None or after.standard_error is None:
        return None
    return float(2 * (before.standard_error**2 + after.standard_error**2) ** 0.5)
