"""CUDA graph launches that left no record of GPU work: what they ran is missing, and may fill what looks idle.

Some exports cannot hold graphs that were recorded whole (nsys 2023.4 has no table for them): the launch call is then
all that is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from nsysan.model.tables import ABSENT, Int64Array
from nsysan.model.trace import PROCESS_BITS, Trace

LAUNCH_NAME = "GraphLaunch"
"""What the calls that launch a graph have in common: cudaGraphLaunch, cuGraphLaunch, with and without a version."""


def count_unseen_graph_launches(traces: Sequence[Trace]) -> int | None:
    """How many launches no kernel, copy or graph record answers, by process and correlation id; null without calls."""
    counts = [_count(trace) for trace in traces if trace.runtime_calls is not None]
    return sum(counts) if counts else None


def _count(trace: Trace) -> int:
    calls = trace.runtime_calls
    if calls is None:
        return 0
    launch_ids = [string_id for string_id, text in trace.strings.items() if LAUNCH_NAME in text]
    launches = calls.take(np.isin(calls.name_id, launch_ids) & (calls.correlation_id != ABSENT))
    processes = launches.global_tid & PROCESS_BITS
    launched = _pairs(processes, launches.correlation_id)
    return len(launched - _answered(trace, set(launches.correlation_id.tolist())))


def _answered(trace: Trace, correlation_ids: Iterable[int]) -> set[tuple[int, int]]:
    wanted = list(correlation_ids)
    tables = [table.take(np.isin(table.correlation_id, wanted)) for table in trace.gpu_tables().values()]
    return {pair for table in tables for pair in _pairs(table.global_pid, table.correlation_id)}


def _pairs(processes: Int64Array, correlation_ids: Int64Array) -> set[tuple[int, int]]:
    return set(zip(processes.tolist(), correlation_ids.tolist(), strict=True))
