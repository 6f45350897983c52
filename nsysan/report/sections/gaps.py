"""The gaps in which a GPU did nothing: the largest with what ran around them, and all of them by size."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nsysan.analysis.idle_gaps import Gap, GapSizes, IdleGaps
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_count, format_duration, format_fraction
from nsysan.report import cells
from nsysan.report.causes import cause_fill, most_awaited, times_by_cause
from nsysan.report.elements import Bar, Cell, Column, Place, Table, single_bar, stacked_bar
from nsysan.report.places import gpus_with_lane
from nsysan.report.section import Layout, Section, Unanswered, View, unanswered
from nsysan.report.stories import StoryView, story_view
from nsysan.report.terms import TERMS

SHOWN_GAP_COUNT = 20
TOLD_AT_FIRST = 3


class SizeClass(msgspec.Struct, frozen=True):
    """The gaps of all GPUs that are at least ``from_ns`` and shorter than ``to_ns``."""

    from_ns: int
    to_ns: int | None
    count: int
    total_ns: int

    @property
    def label(self) -> str:
        """The bounds in words: ``10 µs to 100 µs``."""
        if self.to_ns is None:
            return f"at least {_round_duration(self.from_ns)}"
        if not self.from_ns:
            return f"under {_round_duration(self.to_ns)}"
        return f"{_round_duration(self.from_ns)} to {_round_duration(self.to_ns)}"


class GapsView(View, frozen=True):
    """Gaps by size, the largest as a table, and their stories: the first, and behind the words ``more`` the others."""

    tables: tuple[Table, ...]
    stories: tuple[StoryView, ...]
    more_stories: tuple[StoryView, ...] = ()

    @property
    def more(self) -> str:
        """How many stories are left: ``5 more``."""
        return f"{len(self.more_stories)} more"


def size_classes(sizes: Sequence[GapSizes]) -> tuple[SizeClass, ...]:
    """The gaps of all GPUs by size, smallest first."""
    bounds = sorted({(size.from_ns, size.to_ns) for size in sizes}, key=lambda bound: bound[0])
    return tuple(_size_class(bound, sizes) for bound in bounds)


def _size_class(bound: tuple[int, int | None], sizes: Sequence[GapSizes]) -> SizeClass:
    same = [size for size in sizes if (size.from_ns, size.to_ns) == bound]
    return SizeClass(*bound, sum(size.count for size in same), sum(size.total_ns for size in same))


def _build(run: Run) -> GapsView | Unanswered:
    idle_gaps = run.results.get(IdleGaps)
    if isinstance(idle_gaps, Skipped):
        return unanswered(idle_gaps, "when the GPUs were idle")
    classes = size_classes(idle_gaps.gap_sizes)
    count = sum(size.count for size in classes)
    if not count:
        return GapsView((), (), heading="No GPU was idle within its window")
    shown = idle_gaps.gaps[:SHOWN_GAP_COUNT]
    with_lane = gpus_with_lane(run)
    tables = (_size_table(classes), *((_gap_table(shown, count, with_lane),) if shown else ()))
    stories = tuple(story_view(gap, gap.story, _place(gap, with_lane)) for gap in shown if gap.story is not None)
    context = f"{counted(count, 'gap')} in all, which add up to the idle time."
    first, more = stories[:TOLD_AT_FIRST], stories[TOLD_AT_FIRST:]
    return GapsView(tables, first, more, heading=_heading(classes), context=context)


def _heading(classes: Sequence[SizeClass]) -> str:
    largest = max(classes, key=lambda size: size.total_ns)
    total_ns = sum(size.total_ns for size in classes)
    share = format_fraction(largest.total_ns / total_ns) if total_ns else "none"
    verb = "holds" if largest.count == 1 else "hold"
    return f"{counted(largest.count, 'gap')} of {largest.label} {verb} {share} of the idle time"


def _size_table(classes: Sequence[SizeClass]) -> Table:
    total_ns = sum(size.total_ns for size in classes)
    return Table(
        id="gap-sizes",
        caption="All gaps by size, over all GPUs",
        columns=(
            Column("Size", TERMS["gap"]),
            Column("Share of idle", bar=True),
            Column("gaps", TERMS["gap_count"], numeric=True),
            Column("in all", TERMS["gap_count"], numeric=True, unit="ns"),
            Column("of idle", TERMS["idle"], numeric=True, unit="fraction"),
        ),
        rows=tuple(_size_row(size, total_ns) for size in _occurring(classes)),
        footers=(
            (
                Cell("all gaps"),
                Cell(""),
                Cell(format_count(sum(size.count for size in classes))),
                Cell(format_duration(total_ns)),
                Cell("100.0 %"),
            ),
        ),
        source="gap_sizes[]",
    )


def _occurring(classes: Sequence[SizeClass]) -> Sequence[SizeClass]:
    """The classes from the smallest to the largest that has a gap."""
    having = [place for place, size in enumerate(classes) if size.count]
    return classes[having[0] : having[-1] + 1]


def _size_row(size: SizeClass, total_ns: int) -> tuple[Cell, ...]:
    share = size.total_ns / total_ns if total_ns else 0.0
    return (
        Cell(size.label, value=size.from_ns),
        Cell("", bar=single_bar("idle", share)),
        cells.count(size.count),
        cells.duration(size.total_ns),
        cells.fraction(share, "none"),
    )


def _gap_table(gaps: Sequence[Gap], count: int, with_lane: frozenset[str]) -> Table:
    return Table(
        id="largest-gaps",
        caption=f"The {len(gaps)} largest of {counted(count, 'gap')}" if len(gaps) < count else "Every gap",
        columns=(
            Column("Begins at", TERMS["session_time"], unit="ns"),
            Column("GPU"),
            Column("Length", bar=True),
            Column("lasts", TERMS["gap"], numeric=True, unit="ns", sums=True),
            Column("waited most for"),
            Column("ran before", TERMS["before"]),
            Column("ran after", TERMS["after"]),
        ),
        rows=tuple(_gap_row(gap, max(gaps[0].duration_ns, 1), with_lane) for gap in gaps),
        search="gpu, kernel, cause",
        source="gaps[]",
        fold="the largest gaps",
    )


def _gap_row(gap: Gap, longest_ns: int, with_lane: frozenset[str]) -> tuple[Cell, ...]:
    return (
        cells.moment(gap.start_ns, _place(gap, with_lane)),
        Cell(gap.gpu),
        Cell("", bar=_bar(gap, longest_ns)),
        cells.duration(gap.duration_ns),
        most_awaited(gap.causes),
        _neighbour(gap.before, "begin of the window"),
        _neighbour(gap.after, "end of the window"),
    )


def _place(gap: Gap, with_lane: frozenset[str]) -> Place | None:
    return Place("gap", gap.gpu, gap.start_ns, gap.end_ns) if gap.gpu in with_lane else None


def _bar(gap: Gap, longest_ns: int) -> Bar:
    """How long a gap is, by its causes where they are known."""
    if gap.causes is None:
        return single_bar("idle", gap.duration_ns / longest_ns)
    return stacked_bar((cause_fill(cause), time_ns / longest_ns) for cause, time_ns in times_by_cause(gap.causes))


def _neighbour(name: str | None, edge: str) -> Cell:
    return Cell(edge, style="faint") if name is None else Cell(name, style="name")


def _round_duration(duration_ns: int) -> str:
    return format_duration(duration_ns).replace(".000", "")


SECTION = Section("gaps", 40, "Gaps", "When the GPUs were idle", _build, Layout.WIDE)
