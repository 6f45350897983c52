"""The threads that launch GPU work: how fast they launch, and what keeps them from it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from nsysan.analysis.named_calls import Window, launching_threads, report_windows
from nsysan.attribution.idle.host_thread import HostThreads
from nsysan.attribution.job import Job
from nsysan.model.arrays import Int64Array
from nsysan.model.tables import ABSENT
from nsysan.model.text import display_text
from nsysan.model.trace import PID_MASK, Trace, process_of
from nsysan.model.units import NS_PER_S
from nsysan.timeline.intervals import Intervals, union

MOST_THREADS = 64
MOST_FUNCTIONS = 40


class LaunchingThread(msgspec.Struct, frozen=True):
    """A thread that launched work in its report's window: rates and times are of it.

    ``cuda_ns`` is the time in CUDA calls, ``os_ns`` in recorded calls of the operating system, ``off_core_ns`` off its
    core, ``left_core_count`` how often it left it; each null where it was not recorded.
    """

    report: int
    pid: int | None
    tid: int
    launch_count: int
    launches_per_s: float
    cuda_ns: int
    os_ns: int | None
    off_core_ns: int | None
    left_core_count: int | None
    sample_count: int | None


class SampledFunction(msgspec.Struct, frozen=True):
    """A function in which threads that launch work were found on a core; ``sample_frac`` of all samples of these."""

    name: str
    sample_count: int
    sample_frac: float


def threads_that_launch(job: Job) -> tuple[LaunchingThread, ...]:
    """The threads with the most launches first."""
    found = [
        _thread(job.idle.threads[report], report, tid, window)
        for report, window in report_windows(job).items()
        for tid in launching_threads(job, report).tolist()
    ]
    launched = [thread for thread in found if thread.launch_count]
    return tuple(sorted(launched, key=lambda thread: (-thread.launch_count, thread.report, thread.tid)))[:MOST_THREADS]


def sampled_functions(job: Job) -> tuple[SampledFunction, ...]:
    """The functions with the most samples, of the threads that launch and inside the windows."""
    counts: dict[str, int] = {}
    for report, window in report_windows(job).items():
        for name, count in _functions(job, report, window):
            counts[name] = counts.get(name, 0) + count
    total = sum(counts.values())
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(SampledFunction(name, count, count / total) for name, count in ordered[:MOST_FUNCTIONS])


def _functions(job: Job, report: int, window: Window) -> Iterator[tuple[str, int]]:
    trace = job.idle.threads[report].host.trace
    samples = trace.cpu_samples
    if samples is None or not has_stacks(trace):
        return
    inside = (samples.start_ns >= window[0]) & (samples.start_ns < window[1])
    found = samples.take(inside & np.isin(samples.global_tid, launching_threads(job, report)))
    for name_id, count in zip(
        *(column.tolist() for column in np.unique(found.name_id, return_counts=True)), strict=True
    ):
        yield display_text(trace.strings.get(name_id, "[no function]")), count


def has_stacks(trace: Trace) -> bool:
    """Whether any sample of a thread says which function ran."""
    return trace.cpu_samples is not None and bool((trace.cpu_samples.name_id != ABSENT).any())


def _thread(threads: HostThreads, report: int, global_tid: int, window: Window) -> LaunchingThread:
    host, trace = threads.host, threads.host.trace
    calls = host.calls_by_thread.of(global_tid)
    launches = calls[host.launching[calls]]
    launched = host.calls.start_ns[launches]
    launch_count = int(((launched >= window[0]) & (launched < window[1])).sum())
    os_calls = threads.os_calls_by_thread.of(global_tid)
    samples = trace.cpu_samples
    off_core = _off_core(threads, global_tid)
    return LaunchingThread(
        report=report,
        pid=process_of(global_tid),
        tid=global_tid & PID_MASK,
        launch_count=launch_count,
        launches_per_s=launch_count * NS_PER_S / max(window[1] - window[0], 1),
        cuda_ns=_inside(union(host.calls.start_ns[calls], host.calls.end_ns[calls]), window),
        os_ns=None
        if not trace.os_calls
        else _inside(union(threads.os_calls.start_ns[os_calls], threads.os_calls.end_ns[os_calls]), window),
        off_core_ns=None if off_core is None else _inside(off_core, window),
        left_core_count=None if off_core is None else _begun_inside(off_core.start_ns, window),
        sample_count=None if not samples else _begun_inside(samples.start_ns[samples.global_tid == global_tid], window),
    )


def _off_core(threads: HostThreads, global_tid: int) -> Intervals | None:
    """When the thread was off its core, up to its last event; None where it has no event."""
    rows = threads.scheduling_by_thread.of(global_tid)
    if not len(rows):
        return None
    times_ns = threads.scheduling.start_ns[rows]
    leaves = np.flatnonzero(threads.scheduling.is_on_core[rows[:-1]] == 0)
    return union(times_ns[leaves], times_ns[leaves + 1])


def _inside(time: Intervals, window: Window) -> int:
    covered_ns = time.covered_until(np.array(window))
    return int(covered_ns[1] - covered_ns[0])


def _begun_inside(starts_ns: Int64Array, window: Window) -> int:
    return int(((starts_ns >= window[0]) & (starts_ns < window[1])).sum())
