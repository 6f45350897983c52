"""What happened in a simulated job: the calls, GPU work, NVTX ranges and host work of every rank."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from nsysan.model.stages import Stage
from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.payload import Payload
from nsysan.synth.simulation.program import Rendezvous, Task


class Span(msgspec.Struct, frozen=True):
    """The host thread during [start_ns, end_ns); ``cause`` is what a GPU that idles meanwhile waits for."""

    start_ns: int
    end_ns: int
    cause: str | None


class Call(Span, frozen=True):
    """A CUDA call."""

    name: str
    correlation_id: int

    @property
    def is_driver(self) -> bool:
        """Whether the call is of the driver's interface, not of the runtime's."""
        return not self.name.startswith("cuda")


class GpuWork(msgspec.Struct, frozen=True):
    """A task as it ran, and the call that launched it."""

    start_ns: int
    end_ns: int
    stream_id: int
    task: Task
    call: Call


class Range(msgspec.Struct, frozen=True):
    """An NVTX range of the host thread, as ``Push`` opened it."""

    start_ns: int
    end_ns: int
    text: str | None
    domain_id: int
    marks_step: bool = False
    payload: Payload | None = None
    stage: Stage | None = None


class SyncKind(Enum):
    """What a call does about waiting: of an event, it records it or lets a stream wait; or the thread waits itself."""

    RECORD_EVENT = "record event"
    WAIT_EVENT = "wait event"
    STREAM = "stream"
    DEVICE = "device"


class Synchronization(msgspec.Struct, frozen=True):
    """A call about waiting: the stream it names (None: all of them), and the event (None: no event)."""

    call: Call
    kind: SyncKind
    stream_id: int | None = None
    event_id: int | None = None


class RankTimeline(msgspec.Struct, frozen=True):
    """One rank: its host thread (calls and other spans in order, none overlapping) and its GPU's work."""

    rank: int
    spans: tuple[Span, ...]
    ranges: tuple[Range, ...]
    works: tuple[GpuWork, ...]
    synchronizations: tuple[Synchronization, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """The CUDA calls, in order."""
        return tuple(span for span in self.spans if isinstance(span, Call))

    def later(self, delay_ns: int) -> RankTimeline:
        """The same on a clock that shows ``delay_ns`` more."""
        if delay_ns == 0:
            return self
        return RankTimeline(
            self.rank,
            tuple(_later(span, delay_ns) for span in self.spans),
            tuple(_later(found, delay_ns) for found in self.ranges),
            tuple(replace(_later(work, delay_ns), call=_later(work.call, delay_ns)) for work in self.works),
            tuple(replace(found, call=_later(found.call, delay_ns)) for found in self.synchronizations),
        )


class CollectiveRun(msgspec.Struct, frozen=True):
    """An instance of a collective: when each rank's kernel started and ended, by rank in order."""

    rendezvous: Rendezvous
    start_ns_by_rank: dict[int, int]
    end_ns_by_rank: dict[int, int]

    @property
    def end_ns(self) -> int:
        """When the last of them ended."""
        return max(self.end_ns_by_rank.values())


class Simulation(msgspec.Struct, frozen=True):
    """The whole job, all ranks on one clock."""

    ranks: tuple[RankTimeline, ...]
    collectives: tuple[CollectiveRun, ...]

    @property
    def communicators(self) -> tuple[Communicator, ...]:
        """Those in which anything was said, in order."""
        return tuple(sorted({run.rendezvous.communicator for run in self.collectives}))


Timed = TypeVar("Timed", Span, Call, GpuWork, Range)


def _later(timed: Timed, delay_ns: int) -> Timed:
    return replace(timed, start_ns=timed.start_ns + delay_ns, end_ns=timed.end_ns + delay_ns)
