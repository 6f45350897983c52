"""``compare``: what changed from one run to another, what cannot be compared, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from nsysan.history.carriers import carriers_of
from nsysan.history.differences import Difference, TopicDifferences, differences_of
from nsysan.history.snapshot import KeptFinding, Snapshot
from nsysan.model.figures import Bearing, Condition

COMPARISON_SCHEMA_VERSION = 1

WHOLES = ("step.mean", "window_shares.whole")
"""What the runs are compared by: the first that both know."""


class ComparedRun(msgspec.Struct, frozen=True):
    """Which run this is."""

    reports: tuple[str, ...]
    created_utc: str
    nsysan_version: str


class Obstacle(msgspec.Struct, frozen=True):
    """A condition that differs; None is a value that is not known. ``bearing`` says how grave that is."""

    id: str
    name: str
    before: str | None
    after: str | None
    bearing: Bearing


class OneSided(msgspec.Struct, frozen=True):
    """A question that one run answers and the other (``missing_in``: before or after) does not, and why not."""

    id: str
    missing_in: str
    reason: str
    recapture: str | None


class FindingChanges(msgspec.Struct, frozen=True):
    """Findings matched by id and cause: those of the run before that are gone, those that are new, those that stay.

    Of runs that are two different things, or have nothing to be compared by, none is solved and none new: what one of
    them has is ``before_only`` or ``after_only``. So is a finding from a question that the other run does not answer.
    """

    solved: tuple[KeptFinding, ...]
    new: tuple[KeptFinding, ...]
    kept: tuple[KeptFinding, ...]
    before_only: tuple[KeptFinding, ...] = ()
    after_only: tuple[KeptFinding, ...] = ()


class Comparison(msgspec.Struct, frozen=True):
    """Two runs side by side.

    ``whole`` is what they are compared by, the mean steady step or the window, None where no such figure is known of
    both. ``carriers`` are the pieces of it whose changes add up to its change, the largest first.
    """

    schema_version: int
    before: ComparedRun
    after: ComparedRun
    whole: Difference | None
    carriers: tuple[Difference, ...]
    obstacles: tuple[Obstacle, ...]
    one_sided: tuple[OneSided, ...]
    findings: FindingChanges
    topics: tuple[TopicDifferences, ...]

    @property
    def forbidding(self) -> tuple[Obstacle, ...]:
        """The conditions that make the runs two different things."""
        return tuple(obstacle for obstacle in self.obstacles if obstacle.bearing is Bearing.FORBIDS)

    def topic(self, topic_id: str) -> tuple[Difference, ...]:
        """The figures of a topic, none where neither run has it."""
        return next((topic.differences for topic in self.topics if topic.id == topic_id), ())

    def shared_topic(self, topic_id: str) -> tuple[Difference, ...]:
        """The figures of a topic; none where one run tells none: what the other has is neither gone nor new then."""
        found = self.topic(topic_id)
        is_shared = any(one.before is not None for one in found) and any(one.after is not None for one in found)
        return found if is_shared else ()


def compare(before: Snapshot, after: Snapshot) -> Comparison:
    """What changed from ``before`` to ``after``."""
    topics = differences_of(before.figures, after.figures)
    whole, obstacles = _whole(topics), tuple(obstacles_of(before, after))
    is_one_thing = whole is not None and not any(one.bearing is Bearing.FORBIDS for one in obstacles)
    return Comparison(
        schema_version=COMPARISON_SCHEMA_VERSION,
        before=_named(before),
        after=_named(after),
        whole=whole,
        carriers=() if whole is None else carriers_of(whole, topics),
        obstacles=obstacles,
        one_sided=(*_one_sided(after, before, "before"), *_one_sided(before, after, "after")),
        findings=_finding_changes(before, after, is_one_thing=is_one_thing),
        topics=topics,
    )


def obstacles_of(before: Snapshot, after: Snapshot, *, strict: bool = False) -> Iterator[Obstacle]:
    """The conditions that differ, the forbidding ones first; one that only one run knows is a caution unless strict.

    What only evidence beside the traces tells is a caution then too, and so is what an older nsysan did not tell.
    """
    ours, theirs = ({one.id: one for one in snapshot.conditions} for snapshot in (before, after))
    found = []
    for condition_id in {**ours, **theirs}:
        first, second = ours.get(condition_id), theirs.get(condition_id)
        known = first or second
        values = (None if first is None else first.value, None if second is None else second.value)
        if known is not None and values[0] != values[1]:
            found.append(
                Obstacle(known.id, known.name, *values, _bearing(known, is_one_sided=None in values, strict=strict))
            )
    yield from sorted(found, key=lambda obstacle: obstacle.bearing is not Bearing.FORBIDS)


def _bearing(condition: Condition, *, is_one_sided: bool, strict: bool) -> Bearing:
    if condition.bearing is Bearing.GATED:
        return Bearing.FORBIDS if strict and not is_one_sided else Bearing.CAUTIONS
    is_lenient = is_one_sided and (condition.is_beside or not strict)
    return Bearing.CAUTIONS if is_lenient else condition.bearing


def _whole(topics: Sequence[TopicDifferences]) -> Difference | None:
    known = {one.id: one for topic in topics for one in topic.differences if one.change is not None}
    return next((known[figure_id] for figure_id in WHOLES if figure_id in known), None)


def _named(snapshot: Snapshot) -> ComparedRun:
    return ComparedRun(snapshot.reports, snapshot.created_utc, snapshot.nsysan_version)


def _one_sided(answering: Snapshot, other: Snapshot, missing_in: str) -> Iterator[OneSided]:
    open_in_both = {skipped.id for skipped in answering.skipped}
    for skipped in other.skipped:
        if skipped.id not in open_in_both:
            yield OneSided(skipped.id, missing_in, skipped.reason, skipped.recapture)


def _finding_changes(before: Snapshot, after: Snapshot, *, is_one_thing: bool) -> FindingChanges:
    solved, before_only = _without(before.findings, after, is_one_thing=is_one_thing)
    new, after_only = _without(after.findings, before, is_one_thing=is_one_thing)
    kept = tuple(one for one in after.findings if one not in (*new, *after_only))
    return FindingChanges(solved, new, kept, before_only, after_only)


def _without(
    findings: Sequence[KeptFinding], other: Snapshot, *, is_one_thing: bool
) -> tuple[tuple[KeptFinding, ...], tuple[KeptFinding, ...]]:
    """Those that the other run does not have, and those of which it cannot tell whether it has them."""
    theirs = {(one.id, one.cause) for one in other.findings}
    unanswered = {skipped.id for skipped in other.skipped}
    lacking = [one for one in findings if (one.id, one.cause) not in theirs]
    told = [one for one in lacking if is_one_thing and unanswered.isdisjoint(one.sources)]
    return tuple(told), tuple(one for one in lacking if one not in told)
