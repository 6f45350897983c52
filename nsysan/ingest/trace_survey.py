"""What a trace holds, for formats whose records must be read to know."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from nsysan import __version__
from nsysan.ingest.counts import NCCL_DOMAIN, Counts, GpuWork
from nsysan.ingest.shown import shown, shown_devices, shown_gpus, shown_groups, shown_identity
from nsysan.model.arrays import Int64Array
from nsysan.model.contents import Communicators, Contents, OpenQuestion, TableRows
from nsysan.model.tables import ABSENT, GpuActivities, NvtxRanges
from nsysan.model.text import display_text
from nsysan.model.trace import GPU_TABLES, PROCESS_BITS, Trace, is_timed

_NCCL = re.compile("nccl[A-Z]")
_TABLES = (*GPU_TABLES, "nvtx_ranges", "runtime_calls", "collective_calls")


def contents_of(
    trace: Trace, open_questions: tuple[OpenQuestion, ...], process_names: Mapping[int, str] = MappingProxyType({})
) -> Contents:
    """The contents of a trace, its tables under nsysan's own names.

    ``process_names`` are by global pid and safe to show.
    """
    counts = Counts(_work(trace), _ranges(trace), {key: display_text(name) for key, name in trace.nvtx_domains.items()})
    total, names = counts.total_work(), _names(trace)
    host = trace.identity.host
    return Contents(
        nsysan_version=__version__,
        name=display_text(trace.name),
        reader=trace.reader,
        profiler=trace.profiler,
        size_bytes=trace.fingerprint.size_bytes,
        nsys_version=shown(trace.nsys_version),
        export_schema=shown(trace.export_schema),
        capture_ns=trace.capture_ns,
        session_start_utc_ns=None if trace.session_start_utc_ns is None else str(trace.session_start_utc_ns),
        host_count=None if host is None else 1,
        hosts=() if host is None else (display_text(host),),
        identity=shown_identity(trace.identity),
        process_count=None,
        processes=counts.processes(process_names),
        gpus=shown_gpus(trace.gpus),
        cuda_devices=shown_devices(trace.cuda_devices),
        devices=counts.devices(),
        work_start_ns=total.start_ns,
        work_end_ns=total.end_ns,
        nvtx=counts.nvtx(names),
        rank=trace.rank,
        world_size=trace.world_size,
        communicators=_communicators(trace, counts, names),
        tables=tuple(TableRows(name, len(table)) for name in _TABLES if (table := getattr(trace, name)) is not None),
        open_questions=open_questions,
    )


def _communicators(trace: Trace, counts: Counts, names: Counter[str]) -> Communicators | None:
    nccl_count = counts.ranges_by_domain()[NCCL_DOMAIN] or sum(names[name] for name in names if _NCCL.match(name))
    call_count = 0 if trace.collective_calls is None else len(trace.collective_calls)
    found = Communicators(
        nccl_range_count=nccl_count,
        process_groups=shown_groups(trace.process_groups),
        collective_call_count=call_count,
    )
    return None if found == Communicators() else found


def holds_timed_work(trace: Trace, kind: str) -> bool:
    """Whether the trace holds a record of this kind of GPU work whose time can be."""
    table = trace.gpu_tables().get(kind)
    return table is not None and bool(is_timed(table).any())


def _work(trace: Trace) -> dict[tuple[int, int], GpuWork]:
    found: dict[tuple[int, int], GpuWork] = {}
    for table in trace.gpu_tables().values():
        for owner, work in _work_in(table):
            found[owner] = found[owner].with_more(work) if owner in found else work
    return found


def _work_in(table: GpuActivities) -> Iterator[tuple[tuple[int, int], GpuWork]]:
    timed = is_timed(table)
    for owner, rows in _groups(table.global_pid, table.device_id):
        own = rows[timed[rows]]
        start_ns = max(int(table.start_ns[own].min()), 0) if len(own) else None
        end_ns = int(table.end_ns[own].max()) if len(own) else None
        yield owner, GpuWork(len(rows), start_ns, end_ns)


def _ranges(trace: Trace) -> dict[tuple[int, int], int]:
    ranges = trace.nvtx_ranges
    if ranges is None:
        return {}
    process = ranges.global_tid & PROCESS_BITS
    domain = np.where(ranges.domain_id == ABSENT, 0, ranges.domain_id)
    return {owner: len(process[rows]) for owner, rows in _groups(process, domain)}


def _names(trace: Trace) -> Counter[str]:
    ranges: NvtxRanges | None = trace.nvtx_ranges
    counts: Counter[str] = Counter()
    if ranges is not None:
        ids, id_counts = np.unique(ranges.name_id, return_counts=True)
        for name_id, count in zip(ids.tolist(), id_counts.tolist(), strict=True):
            counts[display_text(trace.text(name_id))] += count
    return counts


def _groups(first: Int64Array, second: Int64Array) -> Iterator[tuple[tuple[int, int], Int64Array]]:
    """Every pair of values with the rows that have it."""
    pairs, group = np.unique(np.stack((first, second), axis=1), axis=0, return_inverse=True)
    for index, (one, other) in enumerate(pairs.tolist()):
        yield (one, other), np.flatnonzero(group.reshape(-1) == index)
