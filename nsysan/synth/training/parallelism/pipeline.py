"""Layers in stages, one a rank, through which the parts of a batch pass: one forward, one backward (1F1B).

A stage first runs forward as many parts as there are stages after it, then one backward and one forward in turn, then
the backwards that are left. Until the first part has come, and once its last has gone, it waits: the bubble.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from nsysan.model.errors import UsageError
from nsysan.model.kernels import Collective
from nsysan.model.purposes import Purpose
from nsysan.model.stages import Stage
from nsysan.synth.simulation.communicator import Communicator, largest_divisor, neighbours, strided
from nsysan.synth.simulation.program import Action, Message, Rendezvous
from nsysan.synth.training.job import Parallelism
from nsysan.synth.training.operators import in_range
from nsysan.synth.training.training_step import TrainingStep
from nsysan.synth.training.worker import Worker

_MOST_STAGES = 4


class PipelineParallelStep(TrainingStep):
    """``layer_count`` layers of the model are this rank's; the first stage embeds, the last has the loss."""

    def __init__(self, worker: Worker, number: int) -> None:
        pipeline = worker.shared_communicator(Purpose.PIPELINE_PARALLEL)
        part = replace(worker.layer, token_count=worker.layer.token_count // worker.knobs.microbatch_count)
        super().__init__(replace(worker, layer=part), number)
        self._pipeline = pipeline
        self._stage = pipeline.ranks.index(worker.rank)
        self._last_stage = len(pipeline.ranks) - 1

    def phases(self) -> Iterator[Action]:
        """All parts of the batch, forward and backward."""
        count = self.knobs.microbatch_count
        warm_up = min(self._last_stage - self._stage, count)
        yield from self.fetch_batch()
        for part in range(warm_up):
            yield from self._receive_forward(part)
            yield from self._forward_part()
            yield from self._send_forward(part)
        yield from self._steady(warm_up)
        for part in range(count - warm_up, count):
            yield from self._receive_backward(part)
            yield from self._backward_part(part)
            yield from self._send_backward(part)

    def _steady(self, warm_up: int) -> Iterator[Action]:
        """One part forward and one backward in turn; what goes either way over a boundary goes together."""
        count = self.knobs.microbatch_count
        if warm_up < count:
            yield from self._receive_forward(warm_up)
        for part in range(count - warm_up):
            ahead = part + warm_up
            yield from self._forward_part()
            yield from self._exchange(self._stage, ahead, part)
            yield from self._backward_part(part)
            if ahead + 1 < count:
                yield from self._exchange(self._stage - 1, ahead + 1, part)
            else:
                yield from self._send_backward(part)

    def _forward_part(self) -> Iterator[Action]:
        yield from in_range(self.worker.spelling.forward, self._forward_layers(), Stage.FORWARD)

    def _forward_layers(self) -> Iterator[Action]:
        if self._stage == 0:
            yield from self.embedding()
        for index in range(self.knobs.layer_count):
            yield from self.forward_layer(index)
        if self._stage == self._last_stage:
            yield from self.loss()

    def _backward_part(self, part: int) -> Iterator[Action]:
        yield from in_range(self.worker.spelling.backward, self._backward_layers(part), Stage.BACKWARD)

    def _backward_layers(self, part: int) -> Iterator[Action]:
        """The gradients of the layers, which add up over the parts and are reduced after the last."""
        for index in reversed(range(self.knobs.layer_count)):
            yield from self.backward_layer(index)
            if part == self.knobs.microbatch_count - 1:
                yield from in_range(None, self.reduce_gradients(index), Stage.GRADIENT_SYNC)

    def _receive_forward(self, part: int) -> Iterator[Action]:
        yield from self._pass_on(self._stage - 1, forward=part)

    def _send_forward(self, part: int) -> Iterator[Action]:
        yield from self._pass_on(self._stage, forward=part)

    def _receive_backward(self, part: int) -> Iterator[Action]:
        yield from self._pass_on(self._stage, backward=part)

    def _send_backward(self, part: int) -> Iterator[Action]:
        yield from self._pass_on(self._stage - 1, backward=part)

    def _exchange(self, boundary: int, forward: int, backward: int) -> Iterator[Action]:
        yield from self._pass_on(boundary, forward=forward, backward=backward)

    def _pass_on(self, boundary: int, forward: int | None = None, backward: int | None = None) -> Iterator[Action]:
        """What a stage and the next after ``boundary`` tell each other: parts by their number, one each way at most."""
        if not 0 <= boundary < self._last_stage:
            return
        upper, lower = self._pipeline.ranks[boundary], self._pipeline.ranks[boundary + 1]
        size_bytes = self.worker.layer.activation_bytes
        ways = (("forward", forward, upper, lower), ("backward", backward, lower, upper))
        told = [way for way in ways if way[1] is not None]
        messages = tuple(Message(source, target, size_bytes) for _, _, source, target in told)
        parts = ", ".join(f"{direction} {part}" for direction, part, _, _ in told)
        meeting = Rendezvous(
            key=f"step {self.number} stage {boundary} to {boundary + 1}: {parts}",
            collective=Collective.SEND_RECV,
            communicator=self._pipeline,
            size_bytes=size_bytes,
            transfer_ns=self.worker.network.messages_ns(messages),
            messages=messages,
        )
        waits = self.knobs.stages_wait
        yield from self.operators.communicate_first(meeting) if waits else self.operators.communicate(meeting)


def _communicators(rank_count: int) -> tuple[Communicator, ...]:
    stage_count = largest_divisor(rank_count, _MOST_STAGES)
    if stage_count == 1:
        raise UsageError(f"{rank_count} ranks make no equal pipelines.", "Give an even number of ranks.")
    replica_count = rank_count // stage_count
    return (
        *strided(Purpose.PIPELINE_PARALLEL, rank_count, replica_count),
        *neighbours(Purpose.DATA_PARALLEL, rank_count, replica_count),
    )


PIPELINE_PARALLEL = Parallelism(_communicators, PipelineParallelStep)
"""Pipelines of up to four stages; ranks of the same stage are replicas and have numbers that follow each other."""
