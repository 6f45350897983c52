"""A table whose cells are shaded by their share: which row differs from the others in which column."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nsysan.model.units import format_fraction
from nsysan.report.elements import Term

LEVELS = 9
"""How many shades the style sheet has, besides none."""


class Shade(msgspec.Struct, frozen=True):
    """One cell: its figure, what it sorts by, the class of its hue, and how strong that is, from 0 to ``LEVELS``."""

    text: str
    value: float
    hue: str
    level: int


class HeatColumn(msgspec.Struct, frozen=True):
    """What a column is a share of, or what else its cells' values are, and the class of its hue."""

    label: str
    term: Term
    hue: str
    unit: str = "fraction"


class HeatMap(msgspec.Struct, frozen=True):
    """Shares or times by row and column; ``note`` says what is not shown."""

    id: str
    caption: str
    row_label: str
    columns: tuple[HeatColumn, ...]
    rows: tuple[tuple[str, tuple[Shade, ...]], ...]
    note: str | None
    source: str


def shades_of(columns: Sequence[HeatColumn], shares: Sequence[float]) -> tuple[Shade, ...]:
    """The cells of one row, one a column: a share that is not nothing has a shade."""
    return tuple(
        Shade(format_fraction(share), share, column.hue, _level(share))
        for column, share in zip(columns, shares, strict=True)
    )


def _level(share: float) -> int:
    return min(max(round(share * LEVELS), int(share >= 0.0005)), LEVELS)  # noqa: PLR2004 -- what is not printed as 0.0 %
