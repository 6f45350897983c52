"""What a host thread does, in program order: work of its own, NVTX ranges, CUDA calls and the tasks they launch."""

from __future__ import annotations

from enum import Enum

import msgspec

from nsysan.model.copies import MemoryKind
from nsysan.model.kernels import Collective
from nsysan.model.partition import Activity
from nsysan.model.stages import Stage
from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.gemm import GemmShape
from nsysan.synth.simulation.payload import Payload

_TILE = 192
"""Rows and columns of a GEMM's result that one block computes."""


class TaskKind(Enum):
    """Which table of an export records a task."""

    KERNEL = "kernel"
    COPY = "copy"
    MEMSET = "memset"
    GRAPH = "graph"


class Message(msgspec.Struct, frozen=True):
    """What one rank sends to another, or to itself."""

    source: int
    target: int
    size_bytes: int


class Rendezvous(msgspec.Struct, frozen=True, kw_only=True):
    """A collective that ranks of a communicator run together, or messages between two of them.

    It starts on each rank when that rank's stream reaches it; ``Meeting`` says when it ends there. Ranks meet by
    communicator and ``key``. ``size_bytes`` is that of the whole array (nccl-tests' S); of an all-to-all what a rank
    sends on average, of messages that of the largest. A rank without messages of its own takes no part in
    ``SEND_RECV``; of other kinds only the all-to-all has ``messages``.
    """

    key: str
    collective: Collective
    communicator: Communicator
    size_bytes: int
    transfer_ns: int
    root: int | None = None
    messages: tuple[Message, ...] = ()

    @property
    def ranks(self) -> tuple[int, ...]:
        """Those that take part."""
        if self.collective is Collective.SEND_RECV:
            return tuple(sorted({rank for message in self.messages for rank in (message.source, message.target)}))
        return self.communicator.ranks


class Task(msgspec.Struct, frozen=True):
    """Work for a stream. ``duration_ns`` does not count for a collective, whose ``rendezvous`` says when it ends.

    A kernel has ``block_count`` blocks, and takes ``slowdown`` times as long as it would with the GPU to itself.
    """

    kind: TaskKind
    name: str
    activity: Activity
    duration_ns: int
    size_bytes: int = 0
    copy_kind: int = 0
    host_memory: MemoryKind = MemoryKind.PINNED
    gemm: GemmShape | None = None
    rendezvous: Rendezvous | None = None
    block_count: int = 1
    slowdown: float = 1.0

    @property
    def slowed_ns(self) -> int:
        """What of its duration it would not take with the GPU to itself."""
        return round(self.duration_ns - self.duration_ns / self.slowdown)


class HostWork(msgspec.Struct, frozen=True):
    """The thread works or waits outside CUDA; ``cause`` is what an idle GPU then waits for, None for plain work."""

    duration_ns: int
    cause: str | None = None


class Push(msgspec.Struct, frozen=True):
    """An NVTX range opens; one without a text is seen by nobody. It may mark a step, or be a ``stage`` of it."""

    text: str | None
    domain_id: int = 0
    marks_step: bool = False
    payload: Payload | None = None
    stage: Stage | None = None


class Pop(msgspec.Struct, frozen=True):
    """The innermost NVTX range closes."""


class Launch(msgspec.Struct, frozen=True):
    """A call that puts a task on a stream; a ``blocking`` one returns when the task has ended."""

    name: str
    duration_ns: int
    stream_id: int
    task: Task
    blocking: bool = False


class PlainCall(msgspec.Struct, frozen=True):
    """A CUDA call that touches no stream, such as cudaMalloc; ``cause`` is what an idle GPU then waits for."""

    name: str
    duration_ns: int
    cause: str | None = None


class RecordEvent(msgspec.Struct, frozen=True):
    """cudaEventRecord: the event fires when all that the stream holds by now has ended."""

    event: str
    stream_id: int
    duration_ns: int = 1_000


class WaitEvent(msgspec.Struct, frozen=True):
    """cudaStreamWaitEvent: later tasks of the stream wait for the event, the thread does not."""

    event: str
    stream_id: int
    duration_ns: int = 1_000


class Synchronize(msgspec.Struct, frozen=True):
    """cudaStreamSynchronize, or cudaDeviceSynchronize where ``stream_id`` is None: the thread waits for the GPU.

    ``name`` is another call that waits like that, such as cudaFree; ``cause`` is what a GPU that idles then waits for.
    """

    stream_id: int | None = None
    duration_ns: int = 2_000
    name: str | None = None
    cause: str = "host_sync"


Action = HostWork | Push | Pop | Launch | PlainCall | RecordEvent | WaitEvent | Synchronize


def kernel(name: str, duration_ns: int, activity: Activity = Activity.COMPUTE, block_count: int = 1) -> Task:
    """A kernel task."""
    return Task(TaskKind.KERNEL, name, activity, duration_ns, block_count=block_count)


def gemm_kernel(name: str, duration_ns: int, shape: GemmShape) -> Task:
    """A matrix multiplication of known shape."""
    block_count = -(-shape.m // _TILE) * -(-shape.n // _TILE)
    return Task(TaskKind.KERNEL, name, Activity.COMPUTE, duration_ns, gemm=shape, block_count=block_count)


def collective_kernel(name: str, rendezvous: Rendezvous) -> Task:
    """A communication kernel that ends together with its peers."""
    return Task(TaskKind.KERNEL, name, Activity.COMMUNICATION, 0, rendezvous=rendezvous)


def copy(copy_kind: int, size_bytes: int, duration_ns: int, host_memory: MemoryKind = MemoryKind.PINNED) -> Task:
    """A copy between host and device."""
    return Task(TaskKind.COPY, "", Activity.COPY, duration_ns, size_bytes, copy_kind, host_memory)


def graph(duration_ns: int) -> Task:
    """A CUDA graph of which only begin and end are recorded."""
    return Task(TaskKind.GRAPH, "", Activity.GRAPH, duration_ns)


def memset(size_bytes: int, duration_ns: int) -> Task:
    """A memory fill."""
    return Task(TaskKind.MEMSET, "", Activity.COPY, duration_ns, size_bytes)
