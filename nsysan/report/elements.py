"""What pages are made of: terms, cells, tables and bars, ready to be written without any arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec


class Term(msgspec.Struct, frozen=True):
    """A word of the page with its definition; ``#def-<id>`` leads there."""

    id: str
    name: str
    sentence: str


class Segment(msgspec.Struct, frozen=True):
    """A piece of a bar: begin and width in percent of the bar, and the class of its fill."""

    x: str
    width: str
    fill: str


class BarMark(msgspec.Struct, frozen=True):
    """What one of those has whose mean a bar shows: its place in percent, and its name where it stands apart."""

    x: str
    label: str | None = None


class Bar(msgspec.Struct, frozen=True):
    """A horizontal bar. ``label`` says the same in words; without one the figures beside it do."""

    segments: tuple[Segment, ...]
    label: str | None = None
    marks: tuple[BarMark, ...] = ()


class Place(msgspec.Struct, frozen=True):
    """A stretch of a GPU's time in the timeline, on the clock of its report; ``kind`` is gap, part, kernel or step."""

    kind: str
    gpu: str
    start_ns: int
    end_ns: int


class Block(msgspec.Struct, frozen=True):
    """A piece of a column: begin and width in percent of the chart, top and height in pixels, the class of its fill."""

    x: str
    width: str
    y: str
    height: str
    fill: str


class ChartColumn(msgspec.Struct, frozen=True):
    """One column: its blocks from the bottom up, what it is in words, and where it leads to in the timeline."""

    blocks: tuple[Block, ...]
    label: str
    place: Place | None


class ColumnChart(msgspec.Struct, frozen=True):
    """Columns side by side that stand on a line, of ``height`` pixels at most; ``label`` says the same in words.

    ``line_y`` is where a line across them lies, in pixels from the top; None where there is none.
    """

    columns: tuple[ChartColumn, ...]
    height: str
    line_y: str | None
    label: str


class Tick(msgspec.Struct, frozen=True):
    """A mark on the axis below a bar: its place in percent, its label, and the SVG anchor of that.

    On a phone there is no room for the label of one that ``is_crowded``.
    """

    x: str
    label: str
    anchor: str
    is_crowded: bool = False


class GridLine(msgspec.Struct, frozen=True):
    """A level of an upright axis: its place in pixels from the top, and what it stands for."""

    y: str
    label: str


class Cell(msgspec.Struct, frozen=True):
    """One cell: its text, a smaller ``note`` below it, the ``value`` it sorts by, a swatch of ``fill``, or a bar.

    ``style`` is one of the classes ``name`` (a name out of the trace), ``code``, ``faint`` and ``strong``. The text of
    a cell with a ``place`` leads there, of one with a ``term`` to the definition. ``depth`` sets a name in, by how many
    others it is inside of.
    """

    text: str
    note: str | None = None
    value: float | None = None
    style: str | None = None
    fill: str | None = None
    bar: Bar | None = None
    place: Place | None = None
    term: Term | None = None
    depth: int = 0


class Column(msgspec.Struct, frozen=True):
    """The head of a column; where ``term`` is given its label leads to the definition.

    A numeric column holds figures; ``unit`` is that of its cells' values, as they are copied; where it has neither, the
    text is copied. ``sums`` says that these add up, so that a search can tell the sum of what it found. ``notes`` names
    what the notes of its cells are, as a column of their own in what is copied. A column that ``is_copied_only`` is not
    shown: other means tell what it holds.
    """

    label: str
    term: Term | None = None
    numeric: bool = False
    bar: bool = False
    unit: str | None = None
    sums: bool = False
    notes: str | None = None
    is_copied_only: bool = False


class Table(msgspec.Struct, frozen=True):
    """A table whose rows begin with their header. ``note`` stands below it, ``source`` is the key of its figures.

    Tables of several rows can be sorted unless their order says something (``is_ordered``), those with ``search`` (what
    the field's placeholder suggests) searched too. One with a ``fold``, a few words on what it holds, is closed until
    somebody asks for it.
    """

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    footers: tuple[tuple[Cell, ...], ...] = ()
    note: str | None = None
    search: str | None = None
    source: str | None = None
    is_ordered: bool = False
    fold: str | None = None

    def __post_init__(self) -> None:
        """Refuse a row that has not one cell a column."""
        for row in (*self.rows, *self.footers):
            if len(row) != len(self.columns):
                raise ValueError(f"table {self.id!r}: {len(row)} cells in a row of {len(self.columns)} columns")


def stacked_bar(shares: Iterable[tuple[str, float]], label: str | None = None) -> Bar:
    """A bar of segments one after the other, from pairs of fill and share; empty shares are left out."""
    segments = []
    begin = 0.0
    for fill, share in shares:
        if share > 0:
            segments.append(Segment(percent(begin), percent(share), fill))
        begin += share
    return Bar(tuple(segments), label)


def single_bar(fill: str, share: float) -> Bar:
    """A bar of one colour; its figure stands beside it."""
    return stacked_bar([(fill, share)])


def column_of(shares: Iterable[tuple[str, float]], x: str, width: str, height: int) -> Iterator[Block]:
    """The blocks of one column from the bottom up, from pairs of fill and share of ``height`` pixels."""
    top = float(height)
    for fill, share in shares:
        if share > 0:
            top -= share * height
            yield Block(x, width, pixels(top), pixels(share * height), fill)


def pixels(length: float) -> str:
    """A length in pixels as SVG takes it: ``12.5``."""
    return f"{length:.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """A share as SVG takes it: ``12.5%``."""
    return f"{100 * share:.3f}".rstrip("0").rstrip(".") + "%"
