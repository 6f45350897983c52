"""How often, and how far apart, a simulated capture is recorded in a row."""

from __future__ import annotations

from itertools import chain, pairwise

import msgspec
from msgspec.structs import replace

from nsysan.synth.numbering import Numbering
from nsysan.synth.simulation.timelines import RankTimeline, Span


class Repetition(msgspec.Struct, frozen=True, kw_only=True):
    """The capture ``count`` times in all, each ``period_ns`` after the one before."""

    count: int
    period_ns: int
    numbering: Numbering

    @property
    def last_delay_ns(self) -> int:
        """From the first recording to the last."""
        return (self.count - 1) * self.period_ns


NOT_REPEATED = Repetition(count=1, period_ns=0, numbering=Numbering(prefix="", count=0))


def in_a_row(timeline: RankTimeline, repetition: Repetition, count: int) -> RankTimeline:
    """The rank's first ``count`` recordings in one; in the pauses between them its thread does plain work."""
    recordings = [_later(timeline, repetition, earlier) for earlier in range(count)]
    return RankTimeline(
        timeline.rank,
        tuple(chain.from_iterable(_with_pause(*two) for two in pairwise(recordings))) + recordings[-1].spans,
        tuple(chain.from_iterable(recording.ranges for recording in recordings)),
        tuple(chain.from_iterable(recording.works for recording in recordings)),
        tuple(chain.from_iterable(recording.synchronizations for recording in recordings)),
    )


def _later(timeline: RankTimeline, repetition: Repetition, recordings: int) -> RankTimeline:
    later = timeline.later(recordings * repetition.period_ns)
    number = repetition.numbering.later
    return replace(later, ranges=tuple(replace(found, text=number(found.text, recordings)) for found in later.ranges))


def _with_pause(recording: RankTimeline, following: RankTimeline) -> tuple[Span, ...]:
    return (*recording.spans, Span(recording.spans[-1].end_ns, following.spans[0].start_ns, None))
