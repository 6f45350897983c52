"""Processes that launched work of which nothing was recorded, beside others whose GPU work was."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nsysan.attribution.cuda_calls import CallKind, call_kinds, is_kernel_launch
from nsysan.model.distinct import distinct
from nsysan.model.run import Note
from nsysan.model.text import display_text
from nsysan.model.trace import PROCESS_BITS, Trace, process_of
from nsysan.model.units import counted


def silent_process_notes(trace: Trace) -> Iterator[Note]:
    """What each process launched that has no record of GPU work, where another one has: none of it is in any figure."""
    calls = trace.runtime_calls
    recorded = [distinct(table.global_pid) for table in trace.gpu_tables().values() if len(table)]
    if calls is None or not recorded:
        return
    processes = calls.global_tid & PROCESS_BITS
    unanswered = set(distinct(processes).tolist()).difference(*(column.tolist() for column in recorded))
    if not unanswered:
        return
    silent = np.isin(processes, list(unanswered))
    silent &= is_kernel_launch(trace, calls.name_id) | (call_kinds(trace) == int(CallKind.GRAPH_LAUNCH))
    silent_ones, counts = np.unique(processes[silent], return_counts=True)
    for process, count in zip(silent_ones.tolist(), counts.tolist(), strict=True):
        yield Note(
            "process_without_gpu_records",
            f"Process {process_of(process)} in {display_text(trace.name)} made {counted(count, 'launch')}, and none of "
            "its GPU work is in the report: what it ran is in no figure.",
        )
