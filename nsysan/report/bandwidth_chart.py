"""Bus bandwidth of collectives over their size, beside what their like reached elsewhere."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.model.units import counted, format_rate
from nsysan.report.axis import round_levels
from nsysan.report.collective_tables import is_contended
from nsysan.report.elements import GridLine, Tick, percent, pixels
from nsysan.report.prose import spelled

HEIGHT = 220
_ROOM = 24
"""Above the highest mark, so that the label of the line over it has a place."""
_MARGIN = 0.08
_FEWEST_LEVELS = 3
_PATHS = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z",
    "M-4 -4H4V4H-4Z",
    "M0 -5.5L5.5 0L0 5.5L-5.5 0Z",
    "M0 -5L5 4H-5Z",
    "M-5 -4H5L0 5Z",
    "M-5 -1.5H-1.5V-5H1.5V-1.5H5V1.5H1.5V5H-1.5V1.5H-5Z",
)
_CEILING = "M-6 0H-2M2 0H6"


class ChartLine(msgspec.Struct, frozen=True):
    """A straight piece between two sizes; ``kind`` is its class: ``curve`` or ``ceiling``."""

    x1: str
    x2: str
    y1: str
    y2: str
    kind: str


class Mark(msgspec.Struct, frozen=True):
    """A collective at its size: ``kind`` is ``free`` or ``contended``, ``path`` its shape."""

    x: str
    y: str
    kind: str
    path: str


class ChartKey(msgspec.Struct, frozen=True):
    """What a shape stands for."""

    kind: str
    path: str
    label: str


class BandwidthChart(msgspec.Struct, frozen=True):
    """Marks and lines in percent of the width and pixels from the top; ``label`` says what there is to see."""

    caption: str
    height: str
    label: str
    grid: tuple[GridLine, ...]
    lines: tuple[ChartLine, ...]
    marks: tuple[Mark, ...]
    ticks: tuple[Tick, ...]
    keys: tuple[ChartKey, ...]


class _Point(msgspec.Struct, frozen=True):
    """A row of known size and bandwidth."""

    row: CollectiveRow
    size_bytes: int
    busbw: float


def bandwidth_chart(rows: Sequence[CollectiveRow]) -> BandwidthChart | None:
    """Bandwidth over size of up to six kinds of collectives, those with most time first.

    None where there is only one size and nothing to hold it against.
    """
    points = [
        _Point(row, row.bytes, row.busbw_bytes_per_s) for row in rows if row.bytes and row.busbw_bytes_per_s is not None
    ]
    if len({point.size_bytes for point in points}) <= 1 and not any(row.ceiling_bytes_per_s for row in rows):
        return None
    series: defaultdict[str, list[_Point]] = defaultdict(list)
    for point in points:
        series[_name(point.row)].append(point)
    shown = dict(list(series.items())[: len(_PATHS)])
    return _Drawing([point for found in shown.values() for point in found]).chart(shown) if shown else None


def _name(row: CollectiveRow) -> str:
    purpose = "" if row.purpose is None else f", {spelled(row.purpose)}"
    return f"{spelled(row.kind)} over {counted(len(row.ranks), 'rank')}{purpose}"


class _Drawing:
    """The scales of a chart, both logarithmic: as far below the ceiling is as small a share of it at any size."""

    def __init__(self, points: Sequence[_Point]) -> None:
        sizes = [math.log2(point.size_bytes) for point in points]
        self._first, self._last = math.floor(min(sizes)), max(math.ceil(max(sizes)), math.floor(min(sizes)) + 1)
        ceilings = [point.row.ceiling_bytes_per_s for point in points if point.row.ceiling_bytes_per_s is not None]
        rates = [*(point.busbw for point in points), *ceilings]
        self._levels = round_levels(min(rates), max(rates))

    def chart(self, series: dict[str, list[_Point]]) -> BandwidthChart:
        """All that is drawn of these series."""
        shapes = dict(zip(series, _PATHS, strict=False))
        lines = [line for found in series.values() for line in self._lines(found)]
        marks = [self._mark(point, shapes[name]) for name, found in series.items() for point in found]
        keys = [ChartKey("free", shapes[name], name) for name in series]
        if any(mark.kind == "contended" for mark in marks):
            keys.append(ChartKey("contended", _PATHS[0], "hollow: contended, beside computing"))
        sources = dict.fromkeys(point.row.ceiling_source or "" for found in series.values() for point in found)
        if known := [source for source in sources if source]:
            keys.append(ChartKey("ceiling", _CEILING, f"ceiling: {'; '.join(known)}"))
        return BandwidthChart(
            caption="Bus bandwidth of the transfers over the size of the whole array",
            height=str(HEIGHT),
            label=f"Bus bandwidth over size of {', '.join(series)}. The table below tells the same.",
            grid=tuple(self._grid()),
            lines=tuple(lines),
            marks=tuple(marks),
            ticks=tuple(self._ticks()),
            keys=tuple(keys),
        )

    def _x(self, size_bytes: float) -> str:
        share = (math.log2(size_bytes) - self._first) / (self._last - self._first)
        return percent(_MARGIN + share * (1 - 2 * _MARGIN))

    def _y(self, rate: float) -> str:
        low, high = (math.log10(self._levels[place]) for place in (0, -1))
        return pixels(HEIGHT - (math.log10(rate) - low) / (high - low) * (HEIGHT - _ROOM))

    def _grid(self) -> Iterator[GridLine]:
        for place, level in enumerate(self._levels):
            # of several the lowest can be left out, which would lie under the first marks where the page is narrow
            is_told = place or len(self._levels) <= _FEWEST_LEVELS
            yield GridLine(self._y(level), format_rate(level).replace(".000", "") if is_told else "")

    def _lines(self, points: Sequence[_Point]) -> Iterator[ChartLine]:
        ordered = sorted(points, key=lambda point: point.size_bytes)
        for one, other in pairwise(ordered):
            yield self._line((one.size_bytes, one.busbw), (other.size_bytes, other.busbw), "curve")
        ceilings = [(point.size_bytes, rate) for point in ordered if (rate := point.row.ceiling_bytes_per_s)]
        for first, second in pairwise(ceilings if len(ceilings) > 1 else self._level_through(ceilings)):
            yield self._line(first, second, "ceiling")

    def _level_through(self, ceilings: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
        """A short level piece through the ceiling of a single size."""
        return [(round(size * factor), rate) for size, rate in ceilings for factor in (0.8, 1.25)]

    def _line(self, first: tuple[int, float], second: tuple[int, float], kind: str) -> ChartLine:
        return ChartLine(self._x(first[0]), self._x(second[0]), self._y(first[1]), self._y(second[1]), kind)

    def _mark(self, point: _Point, path: str) -> Mark:
        kind = "contended" if is_contended(point.row) else "free"
        return Mark(self._x(point.size_bytes), self._y(point.busbw), kind, path)

    def _ticks(self) -> Iterator[Tick]:
        every = -(-(self._last - self._first) // 6)
        for place, power in enumerate(range(self._first, self._last + 1, every)):
            yield Tick(self._x(2.0**power), _power(power), "middle", bool(place % 2))


def _power(power: int) -> str:
    """A power of two in bytes: ``64 MiB``."""
    units = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
    return f"{1 << power % 10} {units[power // 10]}"
