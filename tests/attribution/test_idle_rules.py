"""The rules on idle time over random traces, against the same rules applied to one moment after the other."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from nsysan.attribution.job import build_job
from nsysan.ingest.reading import ReadOptions, read_trace
from tests.attribution.idle_traces import LAUNCH, PID, US, Trace, causes

NEVER = -1_000_000
TICK = 10
"""Microseconds: every time of a trace is a multiple, so that a moment stands for all of its tick."""
TIDS = (PID, 200)
BATCH = 4_096

# name -> (cause always, cause over 100 us), as DESIGN lists them
CALLS: dict[str, tuple[str | None, str | None]] = {
    "cudaStreamSynchronize_v3020": ("host_sync", "host_sync"),
    "cudaEventQuery_v3020": ("host_sync", "host_sync"),
    "cudaMalloc_v3020": ("allocator", "allocator"),
    "cudaFree_v3020": ("allocator", "allocator"),
    "cuModuleLoadData": ("module_loading", "module_loading"),
    "cuModuleGetFunction": (None, "module_loading"),
    "cudaGraphInstantiate_v12000": ("graph_build", "graph_build"),
    "cudaEventRecord_v3020": (None, None),
}
LAUNCHES: dict[str, tuple[str | None, str | None]] = {
    LAUNCH: (None, "slow_launch"),
    "cudaGraphLaunch_v10000": (None, None),
    "cudaMemcpyAsync_v3020": (None, "blocking_copy"),
    "cudaMemcpy_v3020": ("blocking_copy", "blocking_copy"),
}
RANGES = {"get_batch": "data_loading", "save_checkpoint": "checkpoint", "gc": "garbage_collection", "forward": None}


@dataclass(frozen=True)
class Span:
    """Something on a thread, in microseconds."""

    tid: int
    start: int
    end: int
    name: str

    def holds(self, moment: int) -> bool:
        return self.start <= moment < self.end


@dataclass(frozen=True)
class Work:
    """GPU work and the call that launched it, if one was recorded."""

    start: int
    end: int
    function: str
    call: Span | None
    size_bytes: int

    @property
    def is_copy(self) -> bool:
        return self.function == "copy"


@dataclass(frozen=True)
class Case:
    """A whole trace."""

    works: tuple[Work, ...]
    calls: tuple[Span, ...]
    ranges: tuple[Span, ...]
    overheads: tuple[Span, ...]
    os_calls: tuple[Span, ...]


def ticks(most: int) -> st.SearchStrategy[int]:
    return st.integers(0, most // TICK).map(lambda tick: tick * TICK)


def spans(names: list[str], most: int, length: int = 1_200) -> st.SearchStrategy[tuple[Span, ...]]:
    drawn = st.tuples(st.sampled_from(TIDS), ticks(2_800), ticks(length), st.sampled_from(names))
    return st.lists(drawn.map(lambda d: Span(d[0], d[1], d[1] + max(d[2], TICK), d[3])), max_size=most).map(tuple)


@st.composite
def works(draw: st.DrawFn) -> Work:
    start, name = draw(ticks(3_000)), draw(st.sampled_from([*LAUNCHES, LAUNCH]))
    before, length = draw(ticks(600)) - TICK, draw(ticks(150)) + TICK
    call = Span(draw(st.sampled_from(TIDS)), start - before, start - before + length, name)
    is_copy = "Memcpy" in name
    function = "copy" if is_copy else draw(st.sampled_from(["f", "g"]))
    has_call = draw(st.integers(0, 7)) > 0 and call.start >= 0
    size_bytes = draw(st.sampled_from([BATCH, BATCH - 1]))
    return Work(start, start + draw(ticks(200)) + TICK, function, call if has_call else None, size_bytes)


CASES = st.builds(
    Case,
    works=st.lists(works(), min_size=1, max_size=7).map(tuple),
    calls=spans(list(CALLS), 8),
    ranges=spans(list(RANGES), 6),
    overheads=spans(["CUPTI Buffer flush", "Lazy function loading"], 3),
    os_calls=spans(["poll", "write"], 6),
)


# a trace is small enough to read as it is drawn, and to shrink it takes minutes; the same are drawn every time, for
# calls of one thread that overlap partly, which none makes, leave open what comes first
@pytest.mark.usefixtures("mode")
@settings(max_examples=60, deadline=None, phases=[Phase.generate], derandomize=True)
@given(CASES)
def test_causes_are_those_of_each_moment(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = causes(Path(folder), written(case))

    assert found == {cause: us for cause, us in by_moments(case).items() if us}


@settings(max_examples=40, deadline=None, phases=[Phase.generate], derandomize=True)
@given(CASES)
def test_pieces_tile_the_gaps_and_neighbours_differ(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        job = build_job([read_trace(written(case).write(Path(folder) / "rank0.sqlite"), ReadOptions())])
    (gpu,) = job.gpus
    idle = job.idle.of_gpu(gpu)
    assert idle is not None

    gaps = zip(gpu.occupancy.idle().start_ns.tolist(), gpu.occupancy.idle().end_ns.tolist(), strict=True)
    for start_ns, end_ns in gaps:
        pieces = idle.pieces_of_gap(start_ns, end_ns)
        assert pieces.start_ns.tolist() == [start_ns, *pieces.end_ns.tolist()[:-1]]
        assert pieces.end_ns[-1] == end_ns
        kinds = list(zip(pieces.cause.tolist(), pieces.global_tid.tolist(), strict=True))
        assert all(kind != after for kind, after in itertools.pairwise(kinds))


def written(case: Case) -> Trace:
    trace = Trace.__new__(Trace)
    super(Trace, trace).__init__("3.25")
    # where no call at all was recorded, nothing is said
    trace.calls(0, 0, "cudaEventRecord_v3020", tid=300)
    for correlation, work in enumerate(case.works, start=1):
        if work.call is not None:
            trace.call(
                work.call.start * US, work.call.end * US, work.call.name, tid=work.call.tid, correlation=correlation
            )
        times = (work.start * US, work.end * US)
        if work.is_copy:
            trace.copy(*times, work.size_bytes, correlation=correlation)
        else:
            trace.kernel(*times, work.function, correlation=correlation)
    for call in case.calls:
        trace.calls(call.start, call.end, call.name, call.tid)
    for found in case.ranges:
        trace.range(found.start, found.end, found.name, found.tid)
    for row in case.overheads:
        kind = 3 if "flush" in row.name.lower() else 7
        trace.overhead(row.start * US, row.end * US, row.name, tid=row.tid, overhead_type=kind)
    for call in case.os_calls:
        trace.in_os(call.start, call.end, call.name, call.tid)
    return trace


def by_moments(case: Case) -> Counter[str]:
    """The cause of every idle tick of the window."""
    found: Counter[str] = Counter()
    end = max(work.end for work in case.works)
    moment = min(work.start for work in case.works)
    while moment < end:
        if not any(work.start <= moment < work.end for work in case.works):
            found[Moment(case, moment).cause()] += TICK
        moment += TICK
    return found


class Moment:
    """One idle tick, with the gap that it lies in."""

    def __init__(self, case: Case, moment: int) -> None:
        self.case, self.moment = case, moment
        self.gap_start = max(work.end for work in case.works if work.end <= moment)
        self.gap_end = min(work.start for work in case.works if work.start > moment)
        ending = [work for work in case.works if work.start == self.gap_end]
        # of several that were called at once the shortest, a kernel before a copy
        self.work = min(ending, key=lambda w: (w.call.start if w.call else 10**9, w.end, w.is_copy))
        self.calls = [*case.calls, *(work.call for work in case.works if work.call is not None)]

    def cause(self) -> str:
        call = self.work.call
        if call is None:
            return "unknown"
        starts, ends = call.start, call.end
        if starts > self.gap_end:
            starts = ends = self.gap_end
        if self.moment < starts:
            return self.before(call, starts)
        if self.moment < ends:
            overhead = self.overhead(call.tid)
            return overhead or self.cause_of_call(call) or "launch_latency"
        if self.moment < max(ends, self.gap_start) + 20:
            return "handover" if ends <= self.gap_start else "launch_latency"
        loading = any(load.holds(self.moment) and load.end - load.start > 100 for load in self.loads(TIDS))
        loads_function = self.is_first_launch(self.work) and call.end - call.start > 100
        return "module_loading" if loading or loads_function else "device_wait"

    def before(self, call: Span, starts: int) -> str:
        tid = self.owner(self.moment, call)
        named = self.overhead(tid) or self.cause_of_range(tid) or self.cause_of_calls(tid)
        if named is not None:
            return named
        threads = {call.tid, self.owner(self.gap_start, call)} | {self.previous_tid(call)}
        loads = self.loads(TIDS if self.is_first_launch(self.work) else threads)
        begun = [load.end for load in loads if load.start < starts and load.end > self.gap_start]
        if begun and self.moment < max(begun):
            return "module_loading"
        if any(os_call.tid == tid and os_call.holds(self.moment) for os_call in self.case.os_calls):
            return "data_loading" if self.waits_for_batch(call, starts, has_load=bool(begun)) else "os_blocked"
        # a thread that is in another wait still has not restarted: its last one counts
        last_ends = [
            max(
                (w.end for w in self.calls if w.tid == tid and self.is_wait(w) and w.start < self.gap_start),
                default=NEVER,
            )
            for tid in threads
        ]
        restarts = any(max(starts - 1_000, self.gap_start - 20) <= ended <= self.moment for ended in last_ends)
        return "host_sync" if restarts else "launch_starved"

    def previous_tid(self, call: Span) -> int:
        ended = max(work.end for work in self.case.works if work.end <= self.gap_start)
        last = min(
            (
                (work.start, work.end, work.is_copy, place)
                for place, work in enumerate(self.case.works)
                if work.end == ended
            )
        )
        previous = self.case.works[last[3]].call
        return call.tid if previous is None else previous.tid

    def owner(self, moment: int, call: Span) -> int:
        shown = [
            span.start
            for span in (*self.calls, *self.case.ranges)
            if span.tid == call.tid and self.gap_start <= span.start <= moment
        ]
        return call.tid if shown else self.previous_tid(call)

    def overhead(self, tid: int) -> str | None:
        rows = [row for row in self.case.overheads if row.tid == tid and row.holds(self.moment)]
        if rows:
            first = min(rows, key=lambda row: (row.start, -row.end))
            return "profiler_overhead" if "flush" in first.name.lower() else "module_loading"
        flushing = any("flush" in row.name.lower() and row.holds(self.moment) for row in self.case.overheads)
        held = any(
            call.tid == tid and call.holds(self.moment) and call.end - call.start > 100 and not self.synchronises(call)
            for call in self.calls
        )
        return "profiler_overhead" if flushing and held else None

    def cause_of_range(self, tid: int) -> str | None:
        own = [found for found in self.case.ranges if found.tid == tid]
        launches = [work.call for work in self.case.works if work.call is not None and work.call.tid == tid]
        naming = []
        for found in own:
            held = sum(any(o.name == found.name and o.holds(call.start) for o in own) for call in launches)
            if RANGES[found.name] is not None and 2 * held <= len(launches) and found.holds(self.moment):
                naming.append(found)
        # the innermost; of ranges with one begin the shortest
        best = max(naming, key=lambda found: (found.start, -found.end), default=None)
        return None if best is None else RANGES[best.name]

    def cause_of_calls(self, tid: int) -> str | None:
        named = [
            call for call in self.calls if call.tid == tid and call.holds(self.moment) and self.cause_of_call(call)
        ]
        first = min(named, key=lambda call: (call.start, -call.end), default=None)
        return None if first is None else self.cause_of_call(first)

    def cause_of_call(self, call: Span) -> str | None:
        always, when_long = (CALLS | LAUNCHES)[call.name]
        if call.end - call.start <= 100:
            return always
        if call.name == LAUNCH and any(work.call is call and self.is_first_launch(work) for work in self.case.works):
            return "module_loading"
        beside = [
            load
            for load in self.loads({call.tid})
            if load.end >= call.start - 10_000 and load.start <= call.end + 10_000
        ]
        return "module_loading" if call.name == "cudaFree_v3020" and beside else when_long

    def is_first_launch(self, work: Work) -> bool:
        same = [other for other in self.case.works if other.function == work.function and not other.is_copy]
        first = min(same, key=lambda w: (w.call.start if w.call else w.start, w.start), default=None)
        return first is work

    def loads(self, tids: object) -> list[Span]:
        assert isinstance(tids, (set, tuple))
        return [call for call in self.calls if call.name == "cuModuleLoadData" and call.tid in tids]

    def waits_for_batch(self, call: Span, starts: int, *, has_load: bool) -> bool:
        host_part = range(self.gap_start, starts, TICK)
        waited = sum(
            TICK
            for moment in host_part
            if any(
                w.name == "poll" and w.tid == self.owner(moment, call) and w.holds(moment) for w in self.case.os_calls
            )
        )
        is_batch = self.work.is_copy and self.work.size_bytes >= BATCH
        return (
            is_batch
            and not has_load
            and 2 * waited >= starts - self.gap_start
            and self.gap_end - self.gap_start >= 1_000
        )

    def is_wait(self, call: Span) -> bool:
        return call.name == "cudaStreamSynchronize_v3020" or self.cause_of_call(call) == "blocking_copy"

    @staticmethod
    def synchronises(call: Span) -> bool:
        return call.name in {"cudaStreamSynchronize_v3020", "cudaMemcpy_v3020"}
