"""What is true of a rank that is recorded several times in a row.

Whatever adds up grows by the same amount with every recording after the first: by what the first two have more than
the first alone, the pause between them included.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import asdict, replace

from nsysan.model.partition import PartTimes
from nsysan.synth.repetition import Repetition
from nsysan.synth.truth.job_truth import RankTruth, RecordedTruth
from nsysan.synth.truth.step import StepTime


def repeated_truth(one: RankTruth, two: RankTruth, repetition: Repetition) -> RankTruth:
    """The truth of all recordings from that of the first, and that of the first two, of which there must be two."""
    growth = _Growth(repetition.count - 1)
    causes = two.idle_causes.keys() | one.idle_causes.keys()
    return replace(
        two,
        window_end_ns=growth.of(one.window_end_ns, two.window_end_ns),
        time=growth.of_parts(one.time, two.time),
        idle_gap_count=growth.of(one.idle_gap_count, two.idle_gap_count),
        idle_causes={
            cause: growth.of(one.idle_causes.get(cause, 0), two.idle_causes.get(cause, 0)) for cause in sorted(causes)
        },
        steps=tuple(_steps(one.steps, two.steps, repetition)),
        stages=tuple(
            replace(
                first,
                time=growth.of_parts(first.time, both.time),
                host_ns=growth.of(first.host_ns, both.host_ns),
            )
            for first, both in zip(one.stages, two.stages, strict=True)
        ),
        slowed_ns=growth.of(one.slowed_ns, two.slowed_ns),
        as_recorded=growth.of_records(one.as_recorded, two.as_recorded),
    )


class _Growth(msgspec.Struct, frozen=True):
    """How a figure grows over so many recordings after the first."""

    recordings: int

    def of(self, one: int, two: int) -> int:
        return one + self.recordings * (two - one)

    def of_parts(self, one: PartTimes, two: PartTimes) -> PartTimes:
        later = asdict(two)
        return PartTimes(**{part: self.of(time_ns, later[part]) for part, time_ns in asdict(one).items()})

    def of_records(self, one: RecordedTruth | None, two: RecordedTruth | None) -> RecordedTruth | None:
        if one is None or two is None:
            return None
        return replace(
            two,
            window_end_ns=self.of(one.window_end_ns, two.window_end_ns),
            time=self.of_parts(one.time, two.time),
            idle_gap_count=self.of(one.idle_gap_count, two.idle_gap_count),
            unrecorded_count=self.of(one.unrecorded_count, two.unrecorded_count),
            unrecorded_ns=self.of(one.unrecorded_ns, two.unrecorded_ns),
        )


def _steps(one: tuple[StepTime, ...], two: tuple[StepTime, ...], repetition: Repetition) -> Iterator[StepTime]:
    """Every recording but the last closes its last step with the first of the next."""
    last = repetition.count - 1
    for recording in range(last):
        for step in two[: len(one) + 1]:
            yield _later(step, repetition, recording)
    for step in one:
        yield _later(step, repetition, last)


def _later(step: StepTime, repetition: Repetition, recordings: int) -> StepTime:
    delay_ns = recordings * repetition.period_ns
    marker = repetition.numbering.later(step.marker, recordings)
    return StepTime(marker, step.start_ns + delay_ns, step.end_ns + delay_ns)
