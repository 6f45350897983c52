"""Cells of figures: written for people, with the value they sort by and are copied as."""

from __future__ import annotations

from nsysan.model.units import (
    format_bytes,
    format_count,
    format_duration,
    format_fraction,
    format_rate,
    format_timestamp,
)
from nsysan.report.elements import Cell, Place


def moment(time_ns: int, place: Place | None = None) -> Cell:
    """A moment of the session, which may lead to its place in the timeline."""
    return Cell(format_timestamp(time_ns), value=time_ns, place=place)


UNKNOWN = Cell("unknown", style="faint")
"""What nothing tells."""


def duration(duration_ns: float) -> Cell:
    """A length of time."""
    return Cell(format_duration(duration_ns), value=duration_ns)


def count(number: int) -> Cell:
    """How many there are."""
    return Cell(format_count(number), value=number)


def size(size_bytes: float) -> Cell:
    """A number of bytes."""
    return Cell(format_bytes(size_bytes), value=size_bytes)


def rate(rate_bytes_per_s: float) -> Cell:
    """Bytes per second."""
    return Cell(format_rate(rate_bytes_per_s), value=rate_bytes_per_s)


def fraction(share: float | None, unknown: str) -> Cell:
    """A share as a percentage, or the word for there being none."""
    return Cell(unknown if share is None else format_fraction(share), value=share)


def number(value: int | None) -> Cell:
    """A number that counts nothing, such as a process id, or that it is unknown."""
    return UNKNOWN if value is None else Cell(str(value), value=value)
