"""A training step of a transformer, as the program of one rank's host thread.

A step fetches a batch and copies it to the GPU, runs the layers forward and backward, reduces each layer's gradients
over the ranks on a second stream while the backward goes on, and updates the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from nsysan.model.copies import CopyKind, MemoryKind
from nsysan.model.kernels import Collective
from nsysan.model.purposes import Purpose
from nsysan.model.stages import Stage
from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.program import (
    Action,
    HostWork,
    Launch,
    PlainCall,
    Pop,
    Rendezvous,
    Synchronize,
    copy,
    graph,
    memset,
)
from nsysan.synth.training import kernels
from nsysan.synth.training.kernels import SHORTEST_KERNEL_NS
from nsysan.synth.training.layer import GRADIENT_BYTES
from nsysan.synth.training.layer_program import LayerProgram
from nsysan.synth.training.operators import (
    COPY_CALL,
    MAIN_STREAM,
    MEMSET_CALL,
    Operators,
    after,
    communication_stream,
    in_range,
)
from nsysan.synth.training.worker import Worker

GRAPH_CALL = "cudaGraphLaunch_v10000"
_OPTIMIZER_BYTES_PER_PARAMETER = 28
"""AdamW reads weight, gradient and both moments, and writes all but the gradient, in single precision."""
_SAVED_BYTES_PER_PARAMETER = 12


class TrainingStep:
    """One step of one rank of a job with data parallelism; other ways to split a model override what differs."""

    def __init__(self, worker: Worker, number: int) -> None:
        self.worker = worker
        self.knobs = worker.knobs
        self.number = number
        self.operators = Operators(worker, number)
        self.layer = LayerProgram(self.operators, worker.layer)

    def program(self) -> Iterator[Action]:
        """The whole step, inside its marker."""
        spelling = self.worker.spelling
        ranges = spelling.step_ranges(self.number)
        yield from ranges
        yield from self.phases()
        yield from in_range(spelling.optimizer, self.optimizer(), Stage.OPTIMIZER)
        yield from self._save()
        yield from (Pop() for _ in ranges)

    def phases(self) -> Iterator[Action]:
        """All up to the optimizer."""
        yield from self.fetch_batch()
        yield from in_range(self.worker.spelling.forward, self.forward(), Stage.FORWARD)
        yield from self._read_loss()
        yield from in_range(self.worker.spelling.backward, self.backward(), Stage.BACKWARD)

    def fetch_batch(self) -> Iterator[Action]:
        """Wait for the loader, and copy what it brings."""
        yield from self.wait_for_loader()
        yield from self.copy_batch()

    def wait_for_loader(self) -> Iterator[Action]:
        """Until the next batch is there."""
        loading = HostWork(self.operators.times.of_host(self.knobs.loader_ns), "data_loading")
        yield from in_range(self.worker.spelling.loader, [loading], Stage.DATA)

    def copy_batch(self) -> Iterator[Action]:
        """From the host to the GPU."""
        size_bytes = 8 * self.knobs.token_count
        for _ in ("tokens", "labels"):
            batch = copy(CopyKind.HOST_TO_DEVICE, size_bytes, self.operators.times.host_copy(size_bytes))
            copied = self.operators.operator("aten::copy_", batch, COPY_CALL)
            yield from in_range(None, copied, Stage.HOST_TO_DEVICE_COPY)

    def forward(self) -> Iterator[Action]:
        """Embedding, layers and loss."""
        yield from self.embedding()
        for index in range(self.knobs.layer_count):
            yield from self._reallocate()
            yield from self._copy_mask()
            yield from self._captured(self.forward_layer(index))
            yield from self._stream_activations()
            yield from self._log()
        yield from self.loss()

    def embedding(self) -> Iterator[Action]:
        """What a token's number stands for."""
        size_bytes = 2 * self.layer.layer.activation_bytes
        yield from self.operators.memory_bound("aten::embedding", kernels.EMBEDDING, size_bytes)

    def loss(self) -> Iterator[Action]:
        """How far the model is off."""
        size_bytes = self.layer.layer.activation_bytes
        yield from self.operators.memory_bound("aten::nll_loss_forward", kernels.LOSS, size_bytes)

    def forward_layer(self, index: int) -> Iterator[Action]:  # noqa: ARG002 -- what a layer says to other ranks names it
        """One layer."""
        yield from self.layer.forward()

    def backward(self) -> Iterator[Action]:
        """The layers from the last to the first, each followed by the reduction of its gradients."""
        for index in reversed(range(self.knobs.layer_count)):
            recomputed = self.forward_layer(index) if self.knobs.recomputes else ()
            yield from self._captured(chain(recomputed, self.backward_layer(index)))
            yield from self._log()
            yield from in_range(None, self.reduce_gradients(index), Stage.GRADIENT_SYNC)
            self.operators.slowdown = self.knobs.contention_slowdown
        self.operators.slowdown = 1.0

    def backward_layer(self, index: int) -> Iterator[Action]:  # noqa: ARG002 -- as in forward_layer
        """The gradients of one layer."""
        yield from self.layer.backward()

    def reduce_gradients(self, index: int) -> Iterator[Action]:
        """The all-reduce of a layer's gradients, while the backward goes on."""
        communicator = self.worker.communicator(Purpose.DATA_PARALLEL)
        if communicator is not None:
            key = f"step {self.number} layer {index}"
            size_bytes = self.reduced_gradient_bytes
            yield from self.operators.communicate(self.meeting(key, Collective.ALL_REDUCE, communicator, size_bytes))

    @property
    def reduced_gradient_bytes(self) -> int:
        """The gradients of a layer that all ranks have."""
        return self.worker.layer.gradient_bytes

    def optimizer(self) -> Iterator[Action]:
        """The update of the weights, once their gradients are there."""
        data_stream = communication_stream(Purpose.DATA_PARALLEL)
        yield from after(data_stream, MAIN_STREAM, f"step {self.number} reduced")
        yield from self.operators.operator("aten::zero_", memset(4_096, SHORTEST_KERNEL_NS), MEMSET_CALL)
        for _ in range(self.knobs.layer_count):
            size_bytes = GRADIENT_BYTES * self.updated_parameter_count
            yield from self.operators.memory_bound("aten::_foreach_norm", kernels.NORM, size_bytes)
        for index in range(self.knobs.layer_count):
            moved_bytes = _OPTIMIZER_BYTES_PER_PARAMETER * self.updated_parameter_count
            yield from self.operators.memory_bound("aten::_fused_adamw_", kernels.ADAM, moved_bytes)
            yield from self.share_weights(index)

    @property
    def updated_parameter_count(self) -> int:
        """How many weights of a layer this rank updates."""
        return self.worker.layer.parameter_count

    def share_weights(self, index: int) -> Iterator[Action]:  # noqa: ARG002 -- as in forward_layer
        """What ranks tell each other of a layer's new weights: nothing where each has updated all."""
        yield from ()

    def meeting(
        self,
        key: str,
        kind: Collective,
        communicator: Communicator,
        size_bytes: int,
        root: int | None = None,
    ) -> Rendezvous:
        """A collective over an array of ``size_bytes``."""
        transfer_ns = self.worker.network.collective_ns(kind, size_bytes, len(communicator.ranks))
        return Rendezvous(
            key=key,
            collective=kind,
            communicator=communicator,
            size_bytes=size_bytes,
            transfer_ns=transfer_ns,
            root=root,
        )

    def _captured(self, layer: Iterable[Action]) -> Iterator[Action]:
        """The kernels of a layer, or the graph they were captured in, which runs them without a pause."""
        if not self.knobs.captures_layers:
            yield from layer
            return
        duration_ns = sum(action.task.duration_ns for action in layer if isinstance(action, Launch))
        yield HostWork(self.knobs.python_ns)
        yield Launch(GRAPH_CALL, self.knobs.launch_ns, MAIN_STREAM, graph(duration_ns))

    def _reallocate(self) -> Iterator[Action]:
        """What the caching allocator does where it finds no room."""
        if self.knobs.allocation_ns:
            yield Synchronize(name="cudaFree_v3020", cause="allocator")
            yield PlainCall("cudaMalloc_v3020", self.operators.times.of_host(self.knobs.allocation_ns), "allocator")

    def _copy_mask(self) -> Iterator[Action]:
        size_bytes = self.knobs.pageable_bytes
        if size_bytes:
            duration_ns = self.operators.times.pageable_copy(size_bytes)
            mask = copy(CopyKind.HOST_TO_DEVICE, size_bytes, duration_ns, MemoryKind.PAGEABLE)
            yield from self.operators.operator("aten::copy_", mask, COPY_CALL, blocking=True)

    def _pause(self) -> Iterator[Action]:
        """What the thread of one rank does besides, every so many steps; the ranks take turns."""
        turn = self.number // self.knobs.pause_period % self.worker.rank_count
        if self.knobs.pause_ns and self._is_turn(self.knobs.pause_period) and turn == self.worker.rank:
            yield HostWork(self.operators.times.of_host(self.knobs.pause_ns))

    def _is_turn(self, period: int) -> bool:
        """Whether the step is the second of each ``period``: one that says something is no first step."""
        return self.number % period == 1 % period

    def _save(self) -> Iterator[Action]:
        """Weights and both moments in single precision, a layer a copy, where this step ends with a checkpoint."""
        period = self.knobs.checkpoint_period
        if not period or not self._is_turn(period):
            return
        size_bytes = _SAVED_BYTES_PER_PARAMETER * self.updated_parameter_count
        for _ in range(self.knobs.layer_count):
            state = copy(CopyKind.DEVICE_TO_HOST, size_bytes, self.operators.times.host_copy(size_bytes))
            yield from self.operators.operator("aten::copy_", state, COPY_CALL)

    def _stream_activations(self) -> Iterator[Action]:
        """Elementwise kernels in a row, each of which reads what the one before wrote."""
        moved_bytes = 2 * self.layer.layer.activation_bytes
        for place in range(self.knobs.streaming_count):
            operator, name = (("aten::gelu", kernels.GELU), ("aten::add", kernels.ADD))[place % 2]
            yield from self.operators.memory_bound(operator, name, moved_bytes)

    def _read_loss(self) -> Iterator[Action]:
        """The host waits for the loss, and may do something else before it goes on."""
        if self.knobs.reads_loss:
            yield from self._read_back()
            yield from self._pause()

    def _read_back(self) -> Iterator[Action]:
        """A value that the host waits for."""
        value = copy(CopyKind.DEVICE_TO_HOST, 4, SHORTEST_KERNEL_NS)
        yield from self.operators.operator("aten::item", value, COPY_CALL)
        yield Synchronize(MAIN_STREAM)

    def _log(self) -> Iterator[Action]:
        if not self.knobs.logs_each_layer:
            return
        if self.knobs.reads_back:
            yield from self._read_back()
        yield HostWork(self.operators.times.of_host(self.knobs.logging_ns))
