"""Training steps of a transformer with data parallelism, as the program of one rank's host thread.

A step fetches a batch and copies it to the GPU, runs the layers forward and backward, reduces each layer's gradients
over the ranks on a second stream while the backward goes on, and updates the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nsysan.model.copies import CopyKind, MemoryKind
from nsysan.model.kernels import Collective
from nsysan.model.units import NS_PER_S
from nsysan.synth import kernels
from nsysan.synth.gemm import GemmShape
from nsysan.synth.kernels import SHORTEST_KERNEL_NS, KernelTimes
from nsysan.synth.knobs import Knobs
from nsysan.synth.program import (
    Action,
    HostWork,
    Launch,
    PlainCall,
    Pop,
    Push,
    RecordEvent,
    Rendezvous,
    Synchronize,
    Task,
    TaskKind,
    WaitEvent,
    collective_kernel,
    copy,
    gemm_kernel,
    graph,
    kernel,
    memset,
)

MAIN_STREAM = 7
COMMUNICATION_STREAM = 23
NCCL_DOMAIN = 1
LOADER_RANGE = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
OPTIMIZER_RANGE = "Optimizer.step#AdamW.step"
_GRADIENT_BYTES = 2
_OPTIMIZER_BYTES_PER_PARAMETER = 28
"""AdamW reads weight, gradient and both moments, and writes all but the gradient, in single precision."""

KERNEL_CALL = "cudaLaunchKernel_v7000"
GEMM_CALL = "cudaLaunchKernelExC_v11060"
GRAPH_CALL = "cudaGraphLaunch_v10000"
MODULE_LOAD_CALL = "cuLibraryLoadData"
COPY_CALL = "cudaMemcpyAsync_v3020"
MEMSET_CALL = "cudaMemsetAsync_v3020"


@dataclass(frozen=True, slots=True)
class Layer:
    """The sizes of a transformer layer with grouped queries and a feed-forward part of 3.5 times its width."""

    token_count: int
    hidden_size: int

    @property
    def gemms(self) -> tuple[GemmShape, GemmShape, GemmShape, GemmShape]:
        """The forward GEMMs: query-key-value, attention output, and the two of the feed-forward part."""
        tokens, width, wide = self.token_count, self.hidden_size, self.hidden_size * 7 // 2
        return (
            GemmShape(tokens, width * 3 // 2, width),
            GemmShape(tokens, width, width),
            GemmShape(tokens, wide, width),
            GemmShape(tokens, width, wide),
        )

    @property
    def parameter_count(self) -> int:
        """Weights of the four GEMMs."""
        return sum(shape.n * shape.k for shape in self.gemms)

    @property
    def activation_bytes(self) -> int:
        """One activation of the layer's width, in bfloat16."""
        return 2 * self.token_count * self.hidden_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What all ranks have in common."""

    knobs: Knobs
    rank_count: int
    step_count: int
    seed: int

    @property
    def layer(self) -> Layer:
        """The sizes of each layer."""
        return Layer(self.knobs.token_count, self.knobs.hidden_size)

    def programs(self) -> list[list[Action]]:
        """The program of each rank."""
        return [list(self._program(rank)) for rank in range(self.rank_count)]

    def _program(self, rank: int) -> Iterator[Action]:
        loaded: set[str] = set()
        for step in range(self.step_count):
            yield from TrainingStep(self, rank, step, loaded).program()
        yield Synchronize()

    def gradient_reduction(self, key: str) -> Rendezvous:
        """The all-reduce of a layer's gradients: 2 (n - 1) / n x bytes / busbw."""
        size_bytes = _GRADIENT_BYTES * self.layer.parameter_count
        factor = 2 * (self.rank_count - 1) / self.rank_count
        bus_bytes_per_s = self.knobs.bus_bytes_per_s
        seconds = 0.0 if bus_bytes_per_s is None else size_bytes * factor / bus_bytes_per_s
        return Rendezvous(key, Collective.ALL_REDUCE, self.rank_count, size_bytes, round(seconds * NS_PER_S))


class TrainingStep:
    """One step of one rank, which adds the kernels it loads to ``loaded``."""

    def __init__(self, job: Job, rank: int, step: int, loaded: set[str]) -> None:
        self._job = job
        self._knobs = job.knobs.of_rank(rank)
        self._step = step
        self._loaded = loaded
        self._times = KernelTimes(f"{job.seed}/{rank}/{step}", self._knobs.kernel_slowdown)
        self._operator_count = 10_000 * step

    def program(self) -> Iterator[Action]:
        """The whole step, inside its marker."""
        yield Push(f"step {self._step}")
        yield from self._fetch_batch()
        yield from _in_range("forward", self._forward())
        yield from _in_range("backward", self._backward())
        yield from _in_range(OPTIMIZER_RANGE, self._optimizer())
        yield Pop()

    def _fetch_batch(self) -> Iterator[Action]:
        loading = HostWork(self._times.of_host(self._knobs.loader_ns), "data_loading")
        yield from _in_range(LOADER_RANGE, [loading])
        size_bytes = 8 * self._knobs.token_count
        for _ in ("tokens", "labels"):
            batch = copy(CopyKind.HOST_TO_DEVICE, size_bytes, self._times.host_copy(size_bytes))
            yield from self._operator("aten::copy_", batch, COPY_CALL)

    def _forward(self) -> Iterator[Action]:
        layer = self._job.layer
        yield from self._memory_bound("aten::embedding", kernels.EMBEDDING, 2 * layer.activation_bytes)
        for _ in range(self._knobs.layer_count):
            yield from self._reallocate()
            yield from self._copy_mask()
            yield from self._captured(self._forward_layer(layer))
            yield from self._log()
        yield from self._memory_bound("aten::nll_loss_forward", kernels.LOSS, layer.activation_bytes)

    def _forward_layer(self, layer: Layer) -> Iterator[Action]:
        query, output, up, down = layer.gemms
        size_bytes = layer.activation_bytes
        yield from self._memory_bound("aten::native_layer_norm", kernels.LAYER_NORM, 2 * size_bytes)
        yield from self._gemm(query)
        yield from self._attention("aten::_flash_attention_forward", kernels.ATTENTION_FORWARD, 1)
        yield from self._gemm(output)
        yield from self._memory_bound("aten::add", kernels.ADD, 3 * size_bytes)
        yield from self._memory_bound("aten::native_layer_norm", kernels.LAYER_NORM, 2 * size_bytes)
        yield from self._gemm(up)
        yield from self._memory_bound("aten::gelu", kernels.GELU, 7 * size_bytes)
        yield from self._gemm(down)
        yield from self._memory_bound("aten::add", kernels.ADD, 3 * size_bytes)

    def _captured(self, layer: Iterable[Action]) -> Iterator[Action]:
        """The kernels of a layer, or the graph they were captured in, which runs them without a pause."""
        if not self._knobs.captures_layers:
            yield from layer
            return
        duration_ns = sum(action.task.duration_ns for action in layer if isinstance(action, Launch))
        yield HostWork(self._knobs.python_ns)
        yield Launch(GRAPH_CALL, self._knobs.launch_ns, MAIN_STREAM, graph(duration_ns))

    def _reallocate(self) -> Iterator[Action]:
        """What the caching allocator does where it finds no room."""
        if self._knobs.allocation_ns:
            yield Synchronize(name="cudaFree_v3020", cause="allocator")
            yield PlainCall("cudaMalloc_v3020", self._times.of_host(self._knobs.allocation_ns), "allocator")

    def _copy_mask(self) -> Iterator[Action]:
        size_bytes = self._knobs.pageable_bytes
        if size_bytes:
            duration_ns = self._times.pageable_copy(size_bytes)
            mask = copy(CopyKind.HOST_TO_DEVICE, size_bytes, duration_ns, MemoryKind.PAGEABLE)
            yield from self._operator("aten::copy_", mask, COPY_CALL, blocking=True)

    def _backward(self) -> Iterator[Action]:
        for index in reversed(range(self._knobs.layer_count)):
            yield from self._captured(self._backward_layer(self._job.layer))
            yield from self._log()
            if self._job.rank_count > 1:
                yield from self._reduce_gradients(index)

    def _backward_layer(self, layer: Layer) -> Iterator[Action]:
        query, output, up, down = layer.gemms
        size_bytes = layer.activation_bytes
        yield from self._gemm_backward(down)
        yield from self._memory_bound("aten::gelu_backward", kernels.GELU_BACKWARD, 10.5 * size_bytes)
        yield from self._gemm_backward(up)
        yield from self._memory_bound("aten::native_layer_norm_backward", kernels.LAYER_NORM_BACKWARD, 3 * size_bytes)
        yield from self._gemm_backward(output)
        yield from self._attention("aten::_flash_attention_backward", kernels.ATTENTION_BACKWARD, 2.5)
        yield from self._gemm_backward(query)
        yield from self._memory_bound("aten::native_layer_norm_backward", kernels.LAYER_NORM_BACKWARD, 3 * size_bytes)

    def _reduce_gradients(self, layer_index: int) -> Iterator[Action]:
        key = f"step {self._step} layer {layer_index}"
        yield RecordEvent(f"gradients of {key}", MAIN_STREAM)
        yield WaitEvent(f"gradients of {key}", COMMUNICATION_STREAM)
        reduction = collective_kernel(kernels.ALL_REDUCE, self._job.gradient_reduction(key))
        yield Push("ncclAllReduce", NCCL_DOMAIN)
        yield from self._load(reduction)
        yield Launch(GEMM_CALL, self._knobs.launch_ns, COMMUNICATION_STREAM, reduction)
        yield Pop()

    def _optimizer(self) -> Iterator[Action]:
        yield RecordEvent(f"step {self._step} reduced", COMMUNICATION_STREAM)
        yield WaitEvent(f"step {self._step} reduced", MAIN_STREAM)
        parameter_count = self._job.layer.parameter_count
        yield from self._operator("aten::zero_", memset(4_096, SHORTEST_KERNEL_NS), MEMSET_CALL)
        for _ in range(self._knobs.layer_count):
            yield from self._memory_bound("aten::_foreach_norm", kernels.NORM, _GRADIENT_BYTES * parameter_count)
        for _ in range(self._knobs.layer_count):
            moved_bytes = _OPTIMIZER_BYTES_PER_PARAMETER * parameter_count
            yield from self._memory_bound("aten::_fused_adamw_", kernels.ADAM, moved_bytes)

    def _log(self) -> Iterator[Action]:
        if not self._knobs.logs_each_layer:
            return
        if self._knobs.reads_back:
            yield from self._operator("aten::item", copy(CopyKind.DEVICE_TO_HOST, 4, SHORTEST_KERNEL_NS), COPY_CALL)
            yield Synchronize(MAIN_STREAM)
        yield HostWork(self._times.of_host(self._knobs.logging_ns))

    def _gemm(self, shape: GemmShape) -> Iterator[Action]:
        duration_ns = self._times.gemm(shape, self._knobs.gemm_efficiency)
        task = gemm_kernel(kernels.GEMM, duration_ns, shape)
        yield from self._operator("aten::mm", task, GEMM_CALL, sizes=shape.sizes)

    def _gemm_backward(self, shape: GemmShape) -> Iterator[Action]:
        """The gradients of the input and of the weights."""
        yield from self._gemm(GemmShape(shape.m, shape.k, shape.n))
        yield from self._gemm(GemmShape(shape.k, shape.n, shape.m))

    def _attention(self, operator: str, name: str, passes: float) -> Iterator[Action]:
        duration_ns = self._times.attention(self._knobs.token_count, self._knobs.hidden_size, passes)
        yield from self._operator(operator, kernel(name, duration_ns), KERNEL_CALL)

    def _memory_bound(self, operator: str, name: str, moved_bytes: float) -> Iterator[Action]:
        yield from self._operator(operator, kernel(name, self._times.memory(moved_bytes)), KERNEL_CALL)

    def _operator(
        self, name: str, task: Task, call: str, *, sizes: str = "", blocking: bool = False
    ) -> Iterator[Action]:
        """A PyTorch operator: its range, the framework's own work, and the launch."""
        self._operator_count += 1
        described = f", sizes = {sizes}" if sizes else ""
        yield Push(f"{name}, op_id = {self._operator_count}{described}")
        yield HostWork(self._times.of_host(self._knobs.python_ns))
        yield from self._load(task)
        yield Launch(call, self._knobs.launch_ns, MAIN_STREAM, task, blocking)
        yield Pop()

    def _load(self, task: Task) -> Iterator[Action]:
        """The code of a kernel, which the driver loads when it is first launched."""
        if self._knobs.module_load_ns and task.kind is TaskKind.KERNEL and task.name not in self._loaded:
            self._loaded.add(task.name)
            yield PlainCall(MODULE_LOAD_CALL, self._times.of_host(self._knobs.module_load_ns), "module_loading")


def _in_range(text: str, actions: Iterable[Action]) -> Iterator[Action]:
    yield Push(text)
    yield from actions
    yield Pop()
