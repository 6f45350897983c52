"""The gaps in which a GPU did nothing: the largest of them, and all of them by size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Gap:
    """One idle gap of a GPU's window. ``before`` ended as the gap began and ``after`` ended the gap: what ran there.

    They are null at the window's edges.
    """

    gpu: str
    start_ns: int
    end_ns: int
    duration_ns: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class GapSizes:
    """How many gaps of a GPU are at least ``from_ns`` and shorter than ``to_ns`` (null: no bound), and their sum."""

    gpu: str
    from_ns: int
    to_ns: int | None
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class IdleGaps:
    """The largest gaps of each GPU, largest first, and every gap counted by size; the sizes of a GPU add up to its idle."""

    id: ClassVar[str] = "idle_gaps"

    gaps: tuple[Gap, ...]
    gap_sizes: tuple[GapSizes, ...]
