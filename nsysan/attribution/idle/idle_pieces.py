"""Stretches of idle time, each with one cause."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.tables import Table
from nsysan.timeline.ordering import order_of

AnyPieces = TypeVar("AnyPieces", bound="IdlePieces")


class IdlePieces(Table, frozen=True):
    """Pieces of gaps: ``cause`` is a cause code, ``global_tid`` the thread that explains it (``ABSENT``)."""

    start_ns: Int64Array
    end_ns: Int64Array
    cause: Int64Array
    global_tid: Int64Array

    def solid(self: AnyPieces) -> AnyPieces:
        """The pieces that take any time."""
        return self.take(np.flatnonzero(self.end_ns > self.start_ns))

    def joined(self) -> IdlePieces:
        """Neighbours of one cause and thread as one piece; the pieces are in order of time and do not overlap."""
        same = self.start_ns[1:] == self.end_ns[:-1]
        for column in (self.cause, self.global_tid):
            same &= column[1:] == column[:-1]
        first = np.flatnonzero(np.concatenate([[True], ~same])[: len(self)])
        last = np.append(first[1:], len(self))[: len(first)] - 1
        return IdlePieces(**{**self.take(first).columns(), "end_ns": self.end_ns[last]})

    def shifted(self, shift_ns: int | Int64Array) -> IdlePieces:
        """The pieces on another clock, by one shift or one a piece."""
        times = {"start_ns": self.start_ns + shift_ns, "end_ns": self.end_ns + shift_ns}
        return IdlePieces(**{**self.columns(), **times})

    def clipped(self, start_ns: int, end_ns: int) -> IdlePieces:
        """What of the pieces lies in ``[start, end)``."""
        starts_ns, ends_ns = self.start_ns.clip(start_ns, end_ns), self.end_ns.clip(start_ns, end_ns)
        return IdlePieces(**{**self.columns(), "start_ns": starts_ns, "end_ns": ends_ns}).solid()


class GapPieces(IdlePieces, frozen=True):
    """Pieces that a rule finds, on the clock of the gaps: ``gap`` is the place of the gap among those it looks at."""

    gap: Int64Array

    def on_gpu_clock(self, shift_ns: Int64Array) -> IdlePieces:
        """The pieces in order of time, neighbours that differ in nothing but their time as one; a shift a gap."""
        pieces = IdlePieces(self.start_ns, self.end_ns, self.cause, self.global_tid)
        moved = pieces.shifted(shift_ns[self.gap]) if shift_ns.any() else pieces
        return moved.take(order_of(moved.start_ns)).joined()
