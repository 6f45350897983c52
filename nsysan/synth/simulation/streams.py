"""When GPU work starts and ends: streams in order, events across streams, collectives across ranks."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.meeting import Meeting
from nsysan.synth.simulation.program import Rendezvous, Task
from nsysan.synth.simulation.timelines import CollectiveRun


class PendingWork(msgspec.Struct, eq=False):
    """A launched task whose times are settled once all that it waits for has ended."""

    rank: int
    stream_id: int
    task: Task
    earliest_start_ns: int
    unsettled_count: int = 0
    followers: list[PendingWork] = msgspec.field(default_factory=list)
    start_ns: int | None = None
    end_ns: int | None = None


class Gpus:
    """The GPUs of all ranks. ``handover_ns`` passes between what a task waits for and its start."""

    def __init__(self, handover_ns: int) -> None:
        self._handover_ns = handover_ns
        self._meetings: dict[tuple[Communicator, str], tuple[Meeting, dict[int, PendingWork]]] = {}
        self.collectives: list[CollectiveRun] = []

    def launch(self, work: PendingWork, predecessors: Iterable[PendingWork]) -> None:
        """Put ``work`` behind its predecessors, and settle its times if theirs are."""
        for predecessor in dict.fromkeys(predecessors):  # an event may lead to the same work as the stream
            if predecessor.end_ns is None:
                predecessor.followers.append(work)
                work.unsettled_count += 1
            else:
                self._hold_back(work, predecessor.end_ns)
        if work.unsettled_count == 0:
            self._settle(work)

    def _hold_back(self, work: PendingWork, until_ns: int) -> None:
        work.earliest_start_ns = max(work.earliest_start_ns, until_ns + self._handover_ns)

    def _settle(self, first: PendingWork) -> None:
        ready = [first]
        while ready:
            work = ready.pop()
            work.start_ns = work.earliest_start_ns
            rendezvous = work.task.rendezvous
            if rendezvous is None:
                ready += self._end(work, work.start_ns + work.task.duration_ns)
            else:
                ready += self._meet(rendezvous, work)

    def _meet(self, rendezvous: Rendezvous, work: PendingWork) -> list[PendingWork]:
        """Let ``work`` join its collective; the answer is what waited for nothing but the ranks that end by that."""
        place = (rendezvous.communicator, rendezvous.key)
        meeting, members = self._meetings.setdefault(place, (Meeting(rendezvous), {}))
        members[work.rank] = work
        ended = meeting.arrive(work.rank, work.earliest_start_ns)
        run = meeting.run
        if run is not None:
            self.collectives.append(run)
            del self._meetings[place]
        return [ready for rank, end_ns in ended for ready in self._end(members[rank], end_ns)]

    def _end(self, work: PendingWork, end_ns: int) -> list[PendingWork]:
        """Let ``work`` end; the answer is what waited for nothing else."""
        work.end_ns = end_ns
        for follower in work.followers:
            self._hold_back(follower, end_ns)
            follower.unsettled_count -= 1
        return [follower for follower in work.followers if follower.unsettled_count == 0]
