"""Kinds of collectives as numbers: those of ``Collective`` in its order, then groups of several kinds in one kernel."""

from __future__ import annotations

from enum import Enum

import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.kernels import Collective

KINDS = tuple(Collective)
UNKNOWN = KINDS.index(Collective.UNKNOWN)
SEND_RECV = KINDS.index(Collective.SEND_RECV)

OF_THE_WHOLE = tuple(
    KINDS.index(kind) for kind in (Collective.ALL_REDUCE, Collective.BROADCAST, Collective.REDUCE, Collective.BARRIER)
)
"""Kinds whose calls name the size of the whole array; of the others NCCL's name one rank's part."""


class Meeting(str, Enum):
    """Which ranks of a collective need which others before they can end."""

    SYMMETRIC = "symmetric"
    """All need all."""
    FROM_ROOT = "from_root"
    """Each needs the root."""
    TO_ROOT = "to_root"
    """The root needs all."""
    UNKNOWN = "unknown"


_FROM_ROOT = frozenset({Collective.BROADCAST, Collective.SCATTER})
_TO_ROOT = frozenset({Collective.REDUCE, Collective.GATHER})
_SYMMETRIC = frozenset(
    {
        Collective.ALL_REDUCE,
        Collective.ALL_GATHER,
        Collective.REDUCE_SCATTER,
        Collective.ALL_TO_ALL,
        Collective.BARRIER,
    }
)


class KindTable:
    """The kinds met in a job, by number; the single kinds first."""

    def __init__(self) -> None:
        self._groups: dict[int, int] = {}

    def of_sets(self, masks: Int64Array) -> Int64Array:
        """The kind of each operation, given the kinds of its calls as bits; of no call it is unknown."""
        values, place_of = coded(masks)
        return np.array([self._of_set(mask) for mask in values.tolist()], np.int64)[place_of]

    def name(self, kind: int) -> str:
        """What the kind is called: ``all_reduce``, ``group(all_gather, reduce_scatter)``."""
        if kind < len(KINDS):
            return KINDS[kind].value
        return f"group({', '.join(one.value for one in self.members(kind))})"

    def members(self, kind: int) -> tuple[Collective, ...]:
        """The kinds that run in one kernel: of a single kind itself."""
        if kind < len(KINDS):
            return (KINDS[kind],)
        mask = next(mask for mask, number in self._groups.items() if number == kind)
        return tuple(one for place, one in enumerate(KINDS) if mask >> place & 1)

    def meeting(self, kind: int) -> Meeting:
        """Who needs whom, as far as the kind tells; messages depend on who sends to whom."""
        kinds = frozenset(self.members(kind))
        for alike, meeting in (
            (_SYMMETRIC, Meeting.SYMMETRIC),
            (_FROM_ROOT, Meeting.FROM_ROOT),
            (_TO_ROOT, Meeting.TO_ROOT),
        ):
            if kinds <= alike:
                return meeting
        return Meeting.UNKNOWN

    def _of_set(self, mask: int) -> int:
        if mask == 0:
            return UNKNOWN
        if mask & (mask - 1) == 0:
            return mask.bit_length() - 1
        return self._groups.setdefault(mask, len(KINDS) + len(self._groups))
