"""GPU work that must have been there and cannot be counted: time that looks idle may have been busy with it.

A record cannot be counted where its row cannot be read or its times cannot be. A kernel was never recorded where a
process launched kernels and no record answers any launch. A process that launched graphs is left out of this: what it
launched may have been captured into them, and never have run by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from nsysan.attribution.activities import FAULTS, SOURCES, faults_of
from nsysan.attribution.cuda_calls import CallKind, call_kinds, is_kernel_launch
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.job import Job
from nsysan.model.distinct import distinct
from nsysan.model.missing_records import MissingRecords
from nsysan.model.tables import ABSENT
from nsysan.model.trace import GPU_TABLES, PROCESS_BITS

_NO_CORRELATION = (ABSENT, 0)
_NO_PROCESS = np.empty(0, np.int64)
_BEFORE_CAPTURE = FAULTS.index("before_capture") + 1
"""What ended before the capture began is rightly left out of it."""


def missing_records(job: Job) -> dict[str, MissingRecords]:
    """By table of the trace the records that are missing of the job's devices; kinds that miss none are left out.

    In a job without GPU work all processes count.
    """
    found = {}
    for kind in GPU_TABLES:
        counts = [_count(job, report, kind) for report in _reports(job)]
        missing_count = sum(missing for missing, _ in counts)
        if missing_count:
            found[kind] = MissingRecords(missing_count, sum(usable for _, usable in counts))
    return found


def missing_over_reports(job: Job, of_reports: Sequence[Mapping[str, MissingRecords]]) -> dict[str, MissingRecords]:
    """The records that are missing of the job's devices, by what ``missing_records`` tells of each report alone."""
    found = {}
    for kind in GPU_TABLES:
        missing_count = sum(of_report[kind].missing_count for of_report in of_reports if kind in of_report)
        if missing_count:
            usable = (int(device.work.fault_counts[SOURCES.index(kind), 0]) for device in job.devices)
            found[kind] = MissingRecords(missing_count, sum(usable))
    return found


def _reports(job: Job) -> list[int]:
    return sorted({device.report for device in job.devices}) if job.gpus else list(range(len(job.traces)))


def _count(job: Job, report: int, kind: str) -> tuple[int, int]:
    """How many records of this kind are missing in the report, and how many can be used."""
    trace = job.traces[report]
    damaged_count, usable_count = _damaged_and_usable(job, report, kind)
    missing_count = damaged_count + trace.unreadable_work.get(kind, 0)
    if kind == "kernels":
        # the launches of rows that cannot be read are unanswered as well
        missing_count = max(missing_count, _unanswered_launch_count(job, report))
    return missing_count, usable_count


def _damaged_and_usable(job: Job, report: int, kind: str) -> tuple[int, int]:
    counts = _fault_counts(job, report, kind)
    return sum(counts.values()) - counts[0] - counts[_BEFORE_CAPTURE], counts[0]


def _fault_counts(job: Job, report: int, kind: str) -> Counter[int]:
    """How many records of a kind have which fault, as of ``faults_of``: of the job's devices, or of all without any."""
    if not job.gpus:
        table = job.traces[report].gpu_tables().get(kind)
        return Counter() if table is None else Counter(faults_of(table.start_ns, table.end_ns).tolist())
    counts: Counter[int] = Counter()
    for device in job.devices:
        if device.report == report:
            counts.update(dict(enumerate(device.work.fault_counts[SOURCES.index(kind)].tolist())))
    return counts


def _unanswered_launch_count(job: Job, report: int) -> int:
    """Launches of kernels by processes that have no record of a kernel, each counted once."""
    trace = job.traces[report]
    calls = trace.runtime_calls
    if calls is None:
        return 0
    answered = [distinct(table.global_pid) for table in (trace.kernels, trace.graph_launches) if table is not None]
    # most reports have a kernel of every process that called anything, which is soon seen
    if np.isin(distinct(calls.global_tid) & PROCESS_BITS, np.concatenate([_NO_PROCESS, *answered])).all():
        return 0
    processes = calls.global_tid & PROCESS_BITS
    of_graphs = processes[call_kinds(trace) == int(CallKind.GRAPH_LAUNCH)]
    counts = is_kernel_launch(trace, calls.name_id) & ~np.isin(
        processes, np.concatenate([distinct(of_graphs), *answered])
    )
    if job.gpus:
        counts &= np.isin(processes, [device.global_pid for device in job.devices if device.report == report])
    # a call of the runtime makes one of the driver under the same correlation id; one without an id stands for itself
    alone = counts & np.isin(calls.correlation_id, _NO_CORRELATION)
    known = counts & ~alone
    return len(distinct(codes_of(processes[known], calls.correlation_id[known]))) + int(alone.sum())
