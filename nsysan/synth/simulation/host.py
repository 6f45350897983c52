"""A host thread that runs its program, and stands still where it must wait for the GPU."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from itertools import chain

import msgspec

from nsysan.synth.simulation.program import (
    Action,
    HostWork,
    Launch,
    PlainCall,
    Pop,
    Push,
    RecordEvent,
    Synchronize,
    TaskKind,
    WaitEvent,
)
from nsysan.synth.simulation.streams import Gpus, PendingWork
from nsysan.synth.simulation.timelines import Call, GpuWork, Range, RankTimeline, Span, Synchronization, SyncKind

LONG_CALL_NS = 100_000
"""A launch or an asynchronous copy that takes longer than this holds the thread up."""

Waiting = Generator[None, None, int]


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """How quickly host and GPU answer each other."""

    handover_ns: int = 1_000
    """From the end of all that a task waits for, its launch call included, to its start."""
    wake_up_ns: int = 5_000
    """From the end of GPU work to the return of the call that waited for it."""
    queue_depth: int = 1_024
    """So many tasks of a process may wait for their start; a launch beyond that blocks."""


class Host:
    """One rank's thread. ``run`` is its life: it yields whenever it waits for something other ranks decide."""

    def __init__(self, rank: int, program: Sequence[Action], gpus: Gpus, machine: Machine) -> None:
        self._rank = rank
        self._program = program
        self._gpus = gpus
        self._machine = machine
        self._now_ns = 0
        self._call_count = 0
        self._spans: list[Span] = []
        self._open_ranges: list[tuple[int, Push]] = []
        self._ranges: list[Range] = []
        self._launched: list[tuple[PendingWork, Call]] = []
        self._queue: list[PendingWork] = []
        self._frontiers: dict[int, tuple[PendingWork, ...]] = {}
        self._events: dict[str, tuple[PendingWork, ...]] = {}
        self._event_ids: dict[str, int] = {}
        self._synchronizations: list[Synchronization] = []

    @property
    def progress(self) -> int:
        """A number that grows whenever the thread gets on."""
        return len(self._spans) + len(self._queue)

    def run(self) -> Generator[None]:
        """Run the program to its end."""
        for action in self._program:
            match action:
                case HostWork():
                    self._pass(action.duration_ns, action.cause)
                case Push():
                    self._open_ranges.append((self._now_ns, action))
                case Pop():
                    self._close_range()
                case PlainCall():
                    self._call(action.name, self._now_ns + action.duration_ns, action.cause)
                case RecordEvent():
                    self._events[action.event] = self._frontier(action.stream_id)
                    self._of_event("cudaEventRecord_v3020", action, SyncKind.RECORD_EVENT)
                case WaitEvent():
                    self._frontiers[action.stream_id] = self._frontier(action.stream_id) + self._events[action.event]
                    self._of_event("cudaStreamWaitEvent_v3020", action, SyncKind.WAIT_EVENT)
                case Synchronize():
                    yield from self._synchronize(action)
                case Launch():
                    yield from self._launch(action)

    def timeline(self) -> RankTimeline:
        """What the rank did, once every rank has finished."""
        works = tuple(_settled(work, call) for work, call in self._launched)
        synchronizations = tuple(self._synchronizations)
        return RankTimeline(self._rank, tuple(self._spans), tuple(self._ranges), works, synchronizations)

    def _frontier(self, stream_id: int) -> tuple[PendingWork, ...]:
        """What the next task of the stream waits for."""
        return self._frontiers.get(stream_id, ())

    def _pass(self, duration_ns: int, cause: str | None) -> None:
        self._spans.append(Span(self._now_ns, self._now_ns + duration_ns, cause))
        self._now_ns += duration_ns

    def _close_range(self) -> None:
        start_ns, push = self._open_ranges.pop()
        told = (push.text, push.domain_id, push.marks_step, push.payload, push.stage)
        self._ranges.append(Range(start_ns, self._now_ns, *told))

    def _call(self, name: str, end_ns: int, cause: str | None) -> Call:
        self._call_count += 1
        call = Call(self._now_ns, end_ns, cause, name, self._call_count)
        self._spans.append(call)
        self._now_ns = end_ns
        return call

    def _of_event(self, name: str, action: RecordEvent | WaitEvent, kind: SyncKind) -> None:
        event_id = self._event_ids.setdefault(action.event, len(self._event_ids) + 1)
        call = self._call(name, self._now_ns + action.duration_ns, None)
        self._synchronizations.append(Synchronization(call, kind, action.stream_id, event_id))

    def _synchronize(self, action: Synchronize) -> Generator[None]:
        stream_id = action.stream_id
        frontiers = self._frontiers.values() if stream_id is None else [self._frontier(stream_id)]
        drained_ns = yield from _last_end(list(chain.from_iterable(frontiers)))
        end_ns = max(self._now_ns + action.duration_ns, drained_ns + self._machine.wake_up_ns)
        usual_name = "cudaDeviceSynchronize_v3020" if stream_id is None else "cudaStreamSynchronize_v3020"
        call = self._call(action.name or usual_name, end_ns, action.cause)
        if action.name is None:
            kind = SyncKind.DEVICE if stream_id is None else SyncKind.STREAM
            self._synchronizations.append(Synchronization(call, kind, stream_id))

    def _launch(self, action: Launch) -> Generator[None]:
        issued_ns = max(self._now_ns + action.duration_ns, (yield from self._room_in_queue()))
        earliest_start_ns = issued_ns + self._machine.handover_ns
        work = PendingWork(self._rank, action.stream_id, action.task, earliest_start_ns)
        self._queue.append(work)
        self._gpus.launch(work, self._frontier(action.stream_id))
        self._frontiers[action.stream_id] = (work,)
        end_ns = (yield from _last_end([work])) + self._machine.wake_up_ns if action.blocking else issued_ns
        self._launched.append((work, self._call(action.name, end_ns, _cause(action, end_ns - self._now_ns))))

    def _room_in_queue(self) -> Waiting:
        """When the queue has room for one more task."""
        if len(self._queue) < self._machine.queue_depth:
            return self._now_ns
        oldest = self._queue[-self._machine.queue_depth]
        while oldest.start_ns is None:
            yield
        return oldest.start_ns


def _last_end(works: Iterable[PendingWork]) -> Waiting:
    latest_ns = 0
    for work in works:
        while work.end_ns is None:
            yield
        latest_ns = max(latest_ns, work.end_ns)
    return latest_ns


def _cause(action: Launch, duration_ns: int) -> str | None:
    """What holds the thread up in a launch call, if anything does."""
    if action.task.kind is TaskKind.GRAPH:
        return None  # launching all of a graph takes its time
    is_long = duration_ns > LONG_CALL_NS
    if action.task.kind is TaskKind.COPY:
        return "blocking_copy" if action.blocking or is_long else None
    return "slow_launch" if is_long else None


def _settled(work: PendingWork, call: Call) -> GpuWork:
    if work.start_ns is None or work.end_ns is None:
        raise ValueError(f"a task of rank {work.rank} never ended: {work.task}")
    return GpuWork(work.start_ns, work.end_ns, work.stream_id, work.task, call)
