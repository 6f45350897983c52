"""Text as terminals draw it, in aligned columns and paragraphs: wide characters take two cells, combining ones none."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from nsysan.model.text import visible_text
from nsysan.report.prose import NO_BREAK_SPACE, unbroken

WIDTH = 100
"""Of everything that is written for a terminal or a log."""
GAP = "  "
ELLIPSIS = "..."


def aligned(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """The rows as lines of at most ``width`` cells: the first column to the left and cut to fit, the rest right."""
    widths = [max(cell_count(cell) for cell in column) for column in zip(*rows, strict=True)]
    others = sum(len(GAP) + each for each in widths[1:])
    first = min(widths[0], max(width - others, len(ELLIPSIS)))
    return [_line(row, [first, *widths[1:]]) for row in rows]


def drawn(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines, its heads above, with whatever names may hide made visible."""
    return aligned([heads, *([visible_text(cell) for cell in row] for row in rows)], WIDTH)


def wrapped(paragraph: str) -> list[str]:
    """The paragraph as lines; no figure stands apart from its unit."""
    lines = textwrap.wrap(unbroken(visible_text(paragraph)), WIDTH, break_on_hyphens=False)
    return [line.replace(NO_BREAK_SPACE, " ") for line in lines]


def cut(text: str, width: int) -> str:
    """``text`` in at most ``width`` cells, ending in dots where something is missing."""
    if cell_count(text) <= width:
        return text
    kept, left = "", width - len(ELLIPSIS)
    for character in text:
        left -= cell_count(character)
        if left < 0:
            break
        kept += character
    return kept + ELLIPSIS


def cell_count(text: str) -> int:
    """How many cells of a terminal ``text`` takes."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(character) for character in text)


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = row
    name = cut(first, widths[0])
    cells = [name + " " * (widths[0] - cell_count(name))]
    cells += [" " * (width - cell_count(cell)) + cell for cell, width in zip(others, widths[1:], strict=True)]
    return GAP.join(cells).rstrip()
