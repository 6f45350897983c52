"""Data parallelism over a batch in parts: gradients add up over them, and are reduced once, or after each."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from nsysan.model.kernels import Collective
from nsysan.model.purposes import Purpose
from nsysan.model.stages import Stage
from nsysan.synth.simulation.program import Action, Synchronize
from nsysan.synth.training.job import DATA_PARALLEL, Parallelism
from nsysan.synth.training.operators import MAIN_STREAM, after, communication_stream, in_range
from nsysan.synth.training.training_step import TrainingStep
from nsysan.synth.training.worker import Worker


class AccumulatingStep(TrainingStep):
    """``microbatch_count`` parts of the tokens, one after the other."""

    def __init__(self, worker: Worker, number: int) -> None:
        part = replace(worker.layer, token_count=worker.layer.token_count // worker.knobs.microbatch_count)
        super().__init__(replace(worker, layer=part), number)
        self._part = 0

    def phases(self) -> Iterator[Action]:
        """All parts; the backward of one that is reduced ends when its gradients are there, as DDP's does."""
        spelling, data_stream = self.worker.spelling, communication_stream(Purpose.DATA_PARALLEL)
        yield from self.fetch_batch()
        for part in range(self.knobs.microbatch_count):
            self._part = part
            yield from in_range(spelling.forward, self.forward(), Stage.FORWARD)
            yield from in_range(spelling.backward, self.backward(), Stage.BACKWARD)
            if self._is_reduced:
                yield from after(data_stream, MAIN_STREAM, f"step {self.number} part {part} reduced")

    def optimizer(self) -> Iterator[Action]:
        """The update, and the loss that the loop reads after it: the host fetches the next batch only then."""
        yield from super().optimizer()
        yield Synchronize(MAIN_STREAM)

    def reduce_gradients(self, index: int) -> Iterator[Action]:
        """The all-reduce of a layer's gradients, of those parts that are reduced."""
        communicator = self.worker.communicator(Purpose.DATA_PARALLEL)
        if communicator is not None and self._is_reduced:
            key = f"step {self.number} part {self._part} layer {index}"
            size_bytes = round(self.reduced_gradient_bytes * self.knobs.gradient_share)
            yield from self.operators.communicate(self.meeting(key, Collective.ALL_REDUCE, communicator, size_bytes))

    @property
    def _is_reduced(self) -> bool:
        return self.knobs.reduces_each_part or self._part == self.knobs.microbatch_count - 1


ACCUMULATING = Parallelism(DATA_PARALLEL.communicators, AccumulatingStep)
"""All ranks have the whole model, as in plain data parallelism."""
