"""Layers split over neighbouring ranks, which sum their parts of each layer's output before they go on.

Data parallelism lies across: ranks with the same part reduce its gradients, each updates its share of the weights, and
they gather the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from nsysan.model.errors import UsageError
from nsysan.model.kernels import Collective
from nsysan.model.purposes import Purpose
from nsysan.synth.simulation.communicator import Communicator, neighbours, strided
from nsysan.synth.simulation.program import Action
from nsysan.synth.training.job import Parallelism
from nsysan.synth.training.training_step import TrainingStep
from nsysan.synth.training.worker import Worker

_MOST_SHARDS = 8


class TensorParallelStep(TrainingStep):
    """Four all-reduces a layer that nothing hides, as Megatron has without sequence parallelism."""

    def __init__(self, worker: Worker, number: int) -> None:
        tensor = worker.shared_communicator(Purpose.TENSOR_PARALLEL)
        super().__init__(replace(worker, layer=replace(worker.layer, shard_count=len(tensor.ranks))), number)
        self._tensor = tensor

    def forward_layer(self, index: int) -> Iterator[Action]:
        """A layer's parts, each summed over the ranks that share it."""
        yield from self.layer.attention()
        yield from self._sum(f"layer {index} attention")
        yield from self.layer.residual()
        yield from self.layer.feed_forward()
        yield from self._sum(f"layer {index} feed-forward")
        yield from self.layer.residual()

    def backward_layer(self, index: int) -> Iterator[Action]:
        """The gradients of a layer's inputs, summed likewise."""
        yield from self.layer.feed_forward_backward()
        yield from self._sum(f"layer {index} feed-forward gradient")
        yield from self.layer.norm_backward()
        yield from self.layer.attention_backward()
        yield from self._sum(f"layer {index} attention gradient")
        yield from self.layer.norm_backward()

    def reduce_gradients(self, index: int) -> Iterator[Action]:
        """Each rank gets the sum of its share of the gradients."""
        yield from self._among_replicas(Collective.REDUCE_SCATTER, index)

    @property
    def updated_parameter_count(self) -> int:
        """Its share of the weights."""
        data = self.worker.communicator(Purpose.DATA_PARALLEL)
        return self.worker.layer.parameter_count // (1 if data is None else len(data.ranks))

    def share_weights(self, index: int) -> Iterator[Action]:
        """Each rank gets the weights that the others updated, while the update goes on."""
        yield from self._among_replicas(Collective.ALL_GATHER, index)

    def _among_replicas(self, kind: Collective, index: int) -> Iterator[Action]:
        data = self.worker.communicator(Purpose.DATA_PARALLEL)
        if data is not None:
            key = f"step {self.number} layer {index} {kind.value}"
            meeting = self.meeting(key, kind, data, self.worker.layer.gradient_bytes)
            yield from self.operators.communicate(meeting)

    def _sum(self, what: str) -> Iterator[Action]:
        key = f"step {self.number} {what}"
        meeting = self.meeting(key, Collective.ALL_REDUCE, self._tensor, self.worker.layer.activation_bytes)
        yield from self.operators.communicate_first(meeting)


def _communicators(rank_count: int) -> tuple[Communicator, ...]:
    size = next((size for size in range(2, _MOST_SHARDS + 1) if rank_count % size == 0), None)
    if size is None:
        raise UsageError(f"{rank_count} ranks cannot share layers in equal groups.", "Give an even number of ranks.")
    return (
        *neighbours(Purpose.TENSOR_PARALLEL, rank_count, size),
        *strided(Purpose.DATA_PARALLEL, rank_count, size),
    )


TENSOR_PARALLEL = Parallelism(_communicators, TensorParallelStep)
"""Groups of the fewest ranks that divide their number."""
