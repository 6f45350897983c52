"""A training job: what every rank runs, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from nsysan.model.purposes import Purpose
from nsysan.synth.simulation.communicator import Communicator, whole
from nsysan.synth.simulation.program import Action, Synchronize
from nsysan.synth.training import nccl
from nsysan.synth.training.knobs import Knobs
from nsysan.synth.training.layer import Layer
from nsysan.synth.training.network import Network
from nsysan.synth.training.spelling import SPELLINGS, Spelling
from nsysan.synth.training.training_step import TrainingStep
from nsysan.synth.training.worker import Worker


class Parallelism(msgspec.Struct, frozen=True):
    """How ranks share the work: which of them speak with each other, by their count, and what a rank does in a step."""

    communicators: Callable[[int], tuple[Communicator, ...]]
    step: type[TrainingStep]


def _one_communicator(rank_count: int) -> tuple[Communicator, ...]:
    return whole(Purpose.DATA_PARALLEL, rank_count)


DATA_PARALLEL = Parallelism(_one_communicator, TrainingStep)
"""Every rank has the whole model, and a part of the batch."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What all ranks have in common.

    Where ``device_ids`` says which CUDA device each rank uses, the job begins with the making of its communicators;
    else they were there before.
    """

    knobs: Knobs
    rank_count: int
    step_count: int
    seed: int
    parallelism: Parallelism = DATA_PARALLEL
    spelling: Spelling = SPELLINGS["pytorch"]
    device_ids: tuple[int, ...] = ()

    def programs(self) -> list[list[Action]]:
        """The program of each rank."""
        return [list(self._program(rank)) for rank in range(self.rank_count)]

    def _program(self, rank: int) -> Iterator[Action]:
        worker = self._worker(rank)
        for communicator in worker.communicators if self.device_ids else ():
            yield from nccl.initialisation(communicator, rank, self.device_ids[rank])
        for number in range(self.step_count):
            yield from self.parallelism.step(worker, number).program()
        yield Synchronize()

    def _worker(self, rank: int) -> Worker:
        communicators = self.parallelism.communicators(self.rank_count)
        return Worker(
            rank=rank,
            rank_count=self.rank_count,
            seed=self.seed,
            knobs=self.knobs.of_rank(rank),
            layer=Layer(self.knobs.token_count, self.knobs.hidden_size),
            network=Network(self.knobs.bus_bytes_per_s, self.knobs.alike_ranks),
            spelling=self.spelling,
            communicators=tuple(found for found in communicators if rank in found.ranks and len(found.ranks) > 1),
        )
