"""CUDA graph launches that left no record of GPU work: what they ran is missing, and may fill what looks idle.

Some exports cannot hold graphs that were recorded whole (nsys 2023.4 has no table for them): the launch call is then
all that is left.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nsysan.attribution.job import Job
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.profilers import Profiler
from nsysan.model.tables import ABSENT, RuntimeCalls
from nsysan.model.trace import PROCESS_BITS, Trace

LAUNCH_NAME = "GraphLaunch"
"""What the calls that launch a graph have in common: cudaGraphLaunch, cuGraphLaunch, with and without a version."""


def count_unseen_graph_launches(job: Job) -> int | None:
    """How many launches no kernel, copy or graph record answers, by process and correlation id; null without calls.

    Only traces of nsys are looked at: PyTorch's profiler always records the kernels of a graph one by one.

    Launches count that a process of the job's GPUs made, inside the window if the user chose one; in a job without GPU
    work all do.
    """
    calls = {
        report: trace.runtime_calls
        for report, trace in enumerate(job.traces)
        if trace.runtime_calls is not None and trace.profiler is Profiler.NSYS
    }
    return sum(_count(job, report, table) for report, table in calls.items()) if calls else None


def _count(job: Job, report: int, calls: RuntimeCalls) -> int:
    trace = job.traces[report]
    launch_ids = [string_id for string_id, text in trace.strings.items() if LAUNCH_NAME in text]
    launches = calls.take(np.isin(calls.name_id, launch_ids) & (calls.correlation_id != ABSENT))
    if job.gpus:
        launches = launches.take(_concerns(launches, job, report))
    launched = _pairs(launches.global_tid & PROCESS_BITS, launches.correlation_id)
    # most traces launch no graph: the records of GPU work are searched only for those that do
    return len(launched - _answered(trace, set(launches.correlation_id.tolist()))) if launched else 0


def _concerns(launches: RuntimeCalls, job: Job, report: int) -> BoolArray:
    """Which launches a device's process made, and made inside its window where the user chose that."""
    concerns = np.zeros(len(launches), dtype=np.bool_)
    for device in job.devices:
        if device.report == report:
            first_ns, last_ns = device.occupancy.bounds_ns[0], device.occupancy.bounds_ns[-1]
            inside = (launches.start_ns >= first_ns) & (launches.start_ns < last_ns)
            of_process = (launches.global_tid & PROCESS_BITS) == device.global_pid
            concerns |= of_process & inside if job.window_is_chosen else of_process
    return concerns


def _answered(trace: Trace, correlation_ids: Iterable[int]) -> set[tuple[int, int]]:
    wanted = list(correlation_ids)
    tables = [table.take(np.isin(table.correlation_id, wanted)) for table in trace.gpu_tables().values()]
    return {pair for table in tables for pair in _pairs(table.global_pid, table.correlation_id)}


def _pairs(processes: Int64Array, correlation_ids: Int64Array) -> set[tuple[int, int]]:
    return set(zip(processes.tolist(), correlation_ids.tolist(), strict=True))
