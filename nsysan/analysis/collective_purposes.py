"""What the ranks of a communicator share (data, tensor, pipeline, experts), and how sure that is.

The name that the program gave its group says it. Where there is none, three things tell: what runs on the communicator,
in which stage of the step, and which ranks it has. The innermost parallelism has neighbouring ranks; tensor parallelism
is that nearly always, and data parallelism comes further out. Nothing but a name makes it certain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np

from nsysan.attribution.collectives.job_collectives import JobCollectives
from nsysan.attribution.collectives.kinds import SEND_RECV
from nsysan.attribution.collectives.operations import SEVERAL
from nsysan.attribution.stages.codes import STAGES, UNASSIGNED
from nsysan.model.arrays import Int64Array
from nsysan.model.confidence import Confidence
from nsysan.model.kernels import Collective
from nsysan.model.purposes import Purpose
from nsysan.model.stages import Stage
from nsysan.model.thresholds import PURPOSE_FRAC

_FEW = 2
"""Ranks that are only two are neighbours in any order."""


class Told(msgspec.Struct, frozen=True):
    """A purpose and how sure it is."""

    purpose: Purpose
    confidence: Confidence


_SPELLINGS = {
    Purpose.DATA_PARALLEL: {"data", "dp", "ddp", "fsdp", "replicate", "shard"},
    Purpose.TENSOR_PARALLEL: {"tensor", "tp"},
    Purpose.PIPELINE_PARALLEL: {"pipeline", "pp"},
    Purpose.EXPERT_PARALLEL: {"expert", "ep", "moe"},
    Purpose.CONTEXT_PARALLEL: {"context", "cp"},
}
_GATHERING = frozenset({Collective.ALL_REDUCE, Collective.ALL_GATHER, Collective.REDUCE_SCATTER, Collective.BROADCAST})
_INSIDE_THE_MODEL = frozenset({Stage.FORWARD, Stage.BACKWARD})


def purposes_of(found: JobCollectives, stages: Int64Array) -> tuple[Told | None, ...]:
    """The purpose of each communicator of the job, None where nothing tells; ``stages`` are those of operations."""
    return tuple(
        purpose_in(communicator.description) or _Traffic.on(found, place, stages).purpose()
        for place, communicator in enumerate(found.communicators.all)
    )


def purpose_in(description: str) -> Told | None:
    """The purpose that a group's name says, None where it says none or several."""
    words = set(re.split(r"[\W_]+", description.lower()))
    named = [purpose for purpose, spellings in _SPELLINGS.items() if words & spellings]
    return Told(named[0], Confidence.HIGH) if len(named) == 1 else None


class _Traffic(msgspec.Struct, frozen=True):
    """What runs on a communicator: how often each kind in each stage, on which ranks of how many.

    ``ranks`` are those of the job that are known to be in it, by their number in it. ``has_pairs_alone`` says that
    each message goes to one peer, ``reaches_all`` that each kernel exchanges with all others.
    """

    kinds: Counter[Collective]
    stages: Counter[Stage]
    ranks: tuple[int, ...]
    size: int | None
    world_size: int | None
    has_pairs_alone: bool
    reaches_all: bool

    @classmethod
    def on(cls, found: JobCollectives, communicator: int, stages: Int64Array) -> _Traffic:
        """The traffic on one of the job's communicators."""
        operations, own = found.operations, found.communicators.all[communicator]
        rows = np.flatnonzero(operations.communicator == communicator)
        kinds = Counter(kind for number in operations.kind[rows].tolist() for kind in found.found.kinds.members(number))
        known = Counter(STAGES[code] for code in stages[rows][stages[rows] != UNASSIGNED].tolist())
        messages = rows[operations.kind[rows] == SEND_RECV]
        in_order = sorted(own.rank_of.items(), key=lambda pair: pair[1])
        members = [member for member, _ in in_order] or sorted(set(operations.member[rows].tolist()))
        return cls(
            kinds=kinds,
            stages=known,
            ranks=tuple(found.ranks.of_member[member] for member in members),
            size=own.size,
            world_size=found.ranks.world_size,
            has_pairs_alone=not bool((operations.peer[messages] == SEVERAL).any()),
            reaches_all=own.size is not None and bool((operations.peer_count[messages] == own.size - 1).all()),
        )

    def purpose(self) -> Told | None:
        """What the traffic, its stage and the ranks together tell."""
        if self.size == 1 or not self.kinds:
            return None
        if self._is_mostly(Collective.SEND_RECV):
            return self._of_messages()
        if self._is_mostly(Collective.ALL_TO_ALL):
            return Told(Purpose.EXPERT_PARALLEL, Confidence.MEDIUM)
        if not self._is_mostly(*_GATHERING):
            return None
        by_stage, by_ranks = self._by_stage(), self._by_ranks()
        if by_stage is None:
            # all ranks of a job may share anything
            return None if by_ranks is None or self._has_all_ranks else Told(by_ranks, Confidence.LOW)
        return Told(by_stage, Confidence.MEDIUM if by_stage is by_ranks else Confidence.LOW)

    def _is_mostly(self, *wanted: Collective) -> bool:
        return sum(self.kinds[kind] for kind in wanted) >= PURPOSE_FRAC * self.kinds.total()

    def _of_messages(self) -> Told | None:
        """Messages to one peer at a time go along a pipeline; such to several at once are an exchange of tokens."""
        if not self.has_pairs_alone:
            return Told(Purpose.EXPERT_PARALLEL, Confidence.MEDIUM if self.reaches_all else Confidence.LOW)
        return Told(Purpose.PIPELINE_PARALLEL, Confidence.LOW if self._are_neighbours() else Confidence.MEDIUM)

    def _by_stage(self) -> Purpose | None:
        total = self.stages.total()
        if not total:
            return None
        if self.stages[Stage.GRADIENT_SYNC] >= total / 2:
            return Purpose.DATA_PARALLEL
        inside = sum(self.stages[stage] for stage in _INSIDE_THE_MODEL)
        reduces = self.kinds[Collective.ALL_REDUCE] >= self.kinds.total() / 2
        return Purpose.TENSOR_PARALLEL if inside >= PURPOSE_FRAC * total and reduces else None

    def _by_ranks(self) -> Purpose | None:
        """All ranks of the job, or such that lie apart, share the data; neighbours among others share tensors."""
        if self._has_all_ranks:
            return Purpose.DATA_PARALLEL
        if self.world_size is None or len(self.ranks) < _FEW or len(self.ranks) != self.size:
            return None
        return Purpose.TENSOR_PARALLEL if self._are_neighbours() else Purpose.DATA_PARALLEL

    @property
    def _has_all_ranks(self) -> bool:
        return self.size is not None and self.size == self.world_size

    def _are_neighbours(self) -> bool:
        return _steps(self.ranks) == {1}


def _steps(ranks: Sequence[int]) -> set[int]:
    return {after - before for before, after in pairwise(sorted(ranks))}
