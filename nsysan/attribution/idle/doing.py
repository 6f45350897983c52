"""What one host thread was in, by name: over a stretch of time, and at a moment."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.host import Host
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.model.arrays import Int64Array
from nsysan.model.tables import OsCalls, RuntimeCalls
from nsysan.timeline.labelling import NOBODY, first_come


class Doing(msgspec.Struct, frozen=True):
    """The name of a call or a range that a thread was in, and for how much of the stretch."""

    name: str
    time_ns: int


def doing_over(threads: HostThreads, global_tid: int, start_ns: int, end_ns: int) -> Doing | None:
    """What the thread was in for at least half of the stretch, None where there is no such thing.

    CUDA calls of one name come first, then calls of the operating system of one name, then the innermost range.
    """
    thread, stretch = threads.of(global_tid), _Stretch(threads.host, start_ns, end_ns)
    asked = np.array([start_ns]), np.array([end_ns])
    return (
        stretch.most_called(threads.host.calls, thread.calls_near(asked))
        or stretch.most_called(threads.os_calls, threads.os_calls_by_thread.of(global_tid))
        or stretch.innermost_range(thread.ranges_near(asked))
    )


def ranges_at(threads: HostThreads, global_tid: int, time_ns: int) -> Int64Array:
    """The rows of the push/pop ranges that the thread is in, from the outermost in."""
    host = threads.host
    rows = threads.of(global_tid).ranges_near((np.array([time_ns]), np.array([time_ns + 1])))
    rows = rows[(host.ranges.start_ns[rows] <= time_ns) & (host.range_ends_ns[rows] > time_ns)]
    return rows[np.lexsort((-host.range_ends_ns[rows], host.ranges.start_ns[rows]))]


class _Stretch(msgspec.Struct, frozen=True):
    host: Host
    start_ns: int
    end_ns: int

    def most_called(self, calls: RuntimeCalls | OsCalls, rows: Int64Array) -> Doing | None:
        """The name that held longest, of calls inside calls the outermost; None below half of the stretch."""
        calls = calls.take(rows[(calls.start_ns[rows] < self.end_ns) & (calls.end_ns[rows] > self.start_ns)])
        outermost = first_come(calls.start_ns.clip(min=self.start_ns), calls.end_ns.clip(max=self.end_ns))
        held = outermost.labels != NOBODY
        names, name_of = np.unique(calls.name_id[outermost.labels[held]], return_inverse=True)
        held_ns = np.zeros(len(names), np.int64)
        np.add.at(held_ns, name_of, np.diff(outermost.bounds_ns, append=self.end_ns)[held])
        return self._if_half(int(names[held_ns.argmax()]), int(held_ns.max())) if len(names) else None

    def innermost_range(self, rows: Int64Array) -> Doing | None:
        """The innermost range that held for at least half of the stretch."""
        ends_ns = self.host.range_ends_ns[rows].clip(max=self.end_ns)
        held_ns = ends_ns - self.host.ranges.start_ns[rows].clip(min=self.start_ns)
        # of ranges that held equally long the last is inside the others
        holding = np.flatnonzero(2 * held_ns >= self.end_ns - self.start_ns)[::-1]
        if not len(holding):
            return None
        inner = holding[np.argmin(held_ns[holding])]
        return Doing(self.host.trace.text(int(self.host.ranges.name_id[rows[inner]])), int(held_ns[inner]))

    def _if_half(self, name_id: int, time_ns: int) -> Doing | None:
        is_half = 2 * time_ns >= self.end_ns - self.start_ns
        return Doing(self.host.trace.text(name_id), time_ns) if is_half else None
