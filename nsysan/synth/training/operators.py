"""What one rank's thread calls in one step: operators of PyTorch, and NCCL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from nsysan.model.purposes import Purpose
from nsysan.model.stages import Stage
from nsysan.synth.simulation.gemm import GemmShape
from nsysan.synth.simulation.program import (
    Action,
    HostWork,
    Launch,
    PlainCall,
    Pop,
    Push,
    RecordEvent,
    Rendezvous,
    Task,
    TaskKind,
    WaitEvent,
    collective_kernel,
    gemm_kernel,
    kernel,
)
from nsysan.synth.training import kernels, nccl
from nsysan.synth.training.kernels import KernelTimes
from nsysan.synth.training.worker import Worker

MAIN_STREAM = 7
_COMMUNICATION_STREAMS = {
    Purpose.DATA_PARALLEL: 23,
    Purpose.TENSOR_PARALLEL: 27,
    Purpose.PIPELINE_PARALLEL: 31,
    Purpose.EXPERT_PARALLEL: 35,
}

KERNEL_CALL = "cudaLaunchKernel_v7000"
GEMM_CALL = "cudaLaunchKernelExC_v11060"
MODULE_LOAD_CALL = "cuLibraryLoadData"
COPY_CALL = "cudaMemcpyAsync_v3020"
_BYTES_PER_BLOCK = 8_192
MEMSET_CALL = "cudaMemsetAsync_v3020"


class Operators:
    """The calls of ``worker`` in one step, which load what has not been loaded before.

    Kernels that are launched take ``slowdown`` times as long as they would alone.
    """

    def __init__(self, worker: Worker, step: int) -> None:
        self._worker = worker
        self._knobs = worker.knobs
        self.times = KernelTimes(f"{worker.seed}/{worker.rank}/{step}", worker.knobs.kernel_slowdown)
        self._operator_count = 10_000 * step
        self.slowdown = 1.0

    def gemm(self, shape: GemmShape) -> Iterator[Action]:
        """A matrix multiplication."""
        task = gemm_kernel(kernels.GEMM, self.times.gemm(shape, self._knobs.gemm_efficiency), shape)
        yield from self.operator("aten::mm", task, GEMM_CALL, sizes=shape.sizes)

    def gemm_backward(self, shape: GemmShape) -> Iterator[Action]:
        """The gradients of the input and of the weights."""
        yield from self.gemm(GemmShape(shape.m, shape.k, shape.n))
        yield from self.gemm(GemmShape(shape.k, shape.n, shape.m))

    def memory_bound(self, operator: str, name: str, moved_bytes: float) -> Iterator[Action]:
        """A kernel that is bound by the memory of the GPU."""
        task = kernel(name, self.times.memory(moved_bytes), block_count=1 + int(moved_bytes) // _BYTES_PER_BLOCK)
        yield from self.operator(operator, task, KERNEL_CALL)

    def operator(
        self, name: str, task: Task, call: str, *, sizes: str = "", blocking: bool = False
    ) -> Iterator[Action]:
        """A PyTorch operator: its range, the framework's own work, and the launch."""
        self._operator_count += 1
        described = f", sizes = {sizes}" if sizes else ""
        yield Push(f"{name}, op_id = {self._operator_count}{described}")
        yield HostWork(self.times.of_host(self._knobs.python_ns))
        yield from self._load(task)
        yield Launch(call, self._knobs.launch_ns, MAIN_STREAM, self._contended(task), blocking)
        yield Pop()

    def _contended(self, task: Task) -> Task:
        if task.kind is not TaskKind.KERNEL or self.slowdown == 1:
            return task
        return replace(task, duration_ns=round(task.duration_ns * self.slowdown), slowdown=self.slowdown)

    def communicate(self, rendezvous: Rendezvous) -> Iterator[Action]:
        """This rank's part of a collective, on the stream of its purpose, after all that is launched by now."""
        stream_id = communication_stream(rendezvous.communicator.purpose)
        yield from after(MAIN_STREAM, stream_id, f"ready for {rendezvous.key}")
        task = collective_kernel(nccl.kernel_name(rendezvous.collective), rendezvous)
        launch = [*self._load(task), Launch(GEMM_CALL, self._knobs.launch_ns, stream_id, task)]
        yield from nccl.calls(rendezvous, self._worker.rank, launch)

    def communicate_first(self, rendezvous: Rendezvous) -> Iterator[Action]:
        """The same, and what is launched later waits for it."""
        yield from self.communicate(rendezvous)
        yield from after(
            communication_stream(rendezvous.communicator.purpose), MAIN_STREAM, f"done with {rendezvous.key}"
        )

    def _load(self, task: Task) -> Iterator[Action]:
        """The code of a kernel, which the driver loads when it is first launched."""
        if self._knobs.module_load_ns and task.kind is TaskKind.KERNEL and task.name not in self._worker.loaded:
            self._worker.loaded.add(task.name)
            yield PlainCall(MODULE_LOAD_CALL, self.times.of_host(self._knobs.module_load_ns), "module_loading")


def communication_stream(purpose: Purpose) -> int:
    """The stream on which a rank runs the collectives of that purpose."""
    return _COMMUNICATION_STREAMS[purpose]


def after(first_stream: int, then_stream: int, event: str) -> Iterator[Action]:
    """What is launched on ``then_stream`` later waits for all that ``first_stream`` holds by now."""
    yield RecordEvent(event, first_stream)
    yield WaitEvent(event, then_stream)


def in_range(text: str | None, actions: Iterable[Action], stage: Stage | None = None) -> Iterator[Action]:
    """``actions`` in an NVTX range, which nobody sees without a text; they are of ``stage``."""
    yield Push(text, stage=stage)
    yield from actions
    yield Pop()


def on_stream(stream_id: int, actions: Iterable[Action]) -> Iterator[Action]:
    """``actions`` with what they launch on the main stream moved to another."""
    for action in actions:
        if isinstance(action, Launch) and action.stream_id == MAIN_STREAM:
            yield replace(action, stream_id=stream_id)
        else:
            yield action
