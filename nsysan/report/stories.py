"""The stories of the largest gaps, ready to be written: what the host did meanwhile, and what ran around them."""

from __future__ import annotations

import msgspec

from nsysan.analysis.gap_sentence import GapCall, GapSpan
from nsysan.analysis.gap_story import GapStory
from nsysan.analysis.idle_gaps import Gap
from nsysan.model.units import format_duration
from nsysan.report import cells
from nsysan.report.causes import cause_fill, cause_term
from nsysan.report.elements import Bar, Cell, Place, Segment, Term, percent
from nsysan.report.prose import spelled


class SpanView(msgspec.Struct, frozen=True):
    """A stretch of a gap: since when it holds, what it waited for, and what its thread was in."""

    begins: str
    lasts: str
    fill: str
    term: Term
    cause: str
    thread: str | None
    doing: str | None


class StoryView(msgspec.Struct, frozen=True):
    """One gap: how long and where, a sentence, its stretches as a bar and one by one, and what was around it.

    ``call`` is the name of the call that ended it and ``called`` when that began, None where none is known.
    """

    amount: str
    unit: str
    where: Cell
    gpu: str
    sentence: str
    bar: Bar
    spans: tuple[SpanView, ...]
    call: str | None
    called: str | None
    ranges: tuple[str, ...]
    marks: tuple[str, ...]
    ran_before: tuple[str, ...]
    ran_after: tuple[str, ...]


def story_view(gap: Gap, story: GapStory, place: Place | None) -> StoryView:
    """The story of a gap; ``place`` is where the timeline shows it."""
    amount, _, unit = format_duration(gap.duration_ns).partition(" ")
    return StoryView(
        amount=amount,
        unit=unit,
        where=cells.moment(gap.start_ns, place),
        gpu=gap.gpu,
        sentence=story.sentence,
        bar=_bar(gap, story),
        spans=tuple(_span_view(gap, span) for span in story.spans),
        call=None if story.call is None else story.call.name,
        called=None if story.call is None else _called(gap, story.call),
        ranges=story.ranges,
        marks=story.marks,
        ran_before=story.ran_before,
        ran_after=story.ran_after,
    )


def _bar(gap: Gap, story: GapStory) -> Bar:
    """The stretches where they lie in the gap; those too short to be told leave holes."""
    whole_ns = max(gap.duration_ns, 1)
    segments = (
        Segment(
            percent((span.start_ns - gap.start_ns) / whole_ns),
            percent((span.end_ns - span.start_ns) / whole_ns),
            cause_fill(span.cause),
        )
        for span in story.spans
    )
    return Bar(tuple(segments))


def _span_view(gap: Gap, span: GapSpan) -> SpanView:
    return SpanView(
        begins=f"{format_duration(span.start_ns - gap.start_ns)} on"
        if span.start_ns > gap.start_ns
        else "its begin on",
        lasts=format_duration(span.end_ns - span.start_ns),
        fill=cause_fill(span.cause),
        term=cause_term(span.cause),
        cause=spelled(span.cause),
        thread=None if span.thread_id is None else f"thread {span.thread_id}",
        doing=span.doing,
    )


def _called(gap: Gap, call: GapCall) -> str:
    lasts = format_duration(call.end_ns - call.start_ns)
    since_ns = call.start_ns - gap.start_ns
    began = f"{format_duration(since_ns)} into the gap" if since_ns >= 0 else f"{format_duration(-since_ns)} before it"
    return f"on thread {call.thread_id}, called {began}, lasts {lasts}"
