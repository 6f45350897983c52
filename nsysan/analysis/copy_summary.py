"""What was copied between memories, how fast, and whether the rates can be true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.registry import Analysis
from nsysan.attribution.activities import between_devices
from nsysan.attribution.devices import Gpu
from nsysan.attribution.duration_groups import DurationGroup, Durations, group_durations, windowed_durations
from nsysan.attribution.job import Job
from nsysan.hardware.links import NVLINK_5, LineRate, host_link
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.copies import CopyKind, MemoryKind
from nsysan.model.distinct import distinct
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.tables import Copies, Memsets
from nsysan.model.trace import IMPOSSIBLE_BYTES
from nsysan.model.units import NS_PER_S

TIMESTAMP_RESOLUTION_NS = 32
"""Of GPU timestamps, by NVIDIA's staff: a copy may have taken this much longer than its record says."""

MEMSET = 14
"""Stands for memsets where copies have a ``CopyKind``."""

NOT_KNOWN = 15
"""Stands for a kind of copy or memory that is absent or has no name."""

HOST_LINK_KINDS = frozenset(kind for kind in CopyKind if ("HOST" in kind.name) and kind is not CopyKind.HOST_TO_HOST)
"""The copies that cross the link between host and GPU."""


class CopyRow(msgspec.Struct, frozen=True):
    """The copies (or memsets) of one direction and pair of memory kinds that ran in the windows.

    ``direction`` is host_to_device, device_to_host, device_to_device, peer_to_peer, host_to_host, unified_*, memset
    or unknown; the memories are pageable, pinned, device, array, managed and so on, or null where unrecorded.
    ``size_bytes`` sums the recorded sizes, null where there are none; ``unsized_count`` copies have none, or one that
    no memory holds. ``rate_bytes_per_s`` = bytes over time of the sized copies, whole ones, null where that is 0/0.
    ``implausible_count`` copies are faster than ``plausible_bytes_per_s`` (whose source is named beside it; null: no
    bound is known), or moved bytes in no time.
    """

    direction: str
    src_memory: str | None
    dst_memory: str | None
    count: int
    gpu_count: int
    size_bytes: int | None
    unsized_count: int
    total_ns: int
    median_ns: float
    p95_ns: int
    rate_bytes_per_s: float | None
    fastest_bytes_per_s: float | None
    plausible_bytes_per_s: float | None
    plausible_source: str | None
    implausible_count: int


class CopySummary(msgspec.Struct, frozen=True):
    """Copies and memsets by direction and memory kinds, most time first."""

    id: ClassVar[str] = "copy_summary"

    copies: tuple[CopyRow, ...]

    def figures(self) -> Iterator[Figure]:
        """The rate of each kind of copy whose sizes are known."""
        for row in self.copies:
            if row.rate_bytes_per_s is not None:
                ends = (row.direction, row.src_memory or "unknown", row.dst_memory or "unknown")
                name = f"{spelled(ends[0])}, {ends[1]} to {ends[2]}"
                yield Figure(_RATES, ":".join(ends), name, row.rate_bytes_per_s, Unit.BYTES_PER_S, Better.MORE)


_RATES = Topic("copy_rates", "Rates of copies and fills")


def compute_copy_summary(job: Job, _results: ResultSet) -> CopySummary | Skipped:
    """The copies and memsets of the job's windows; skipped where no GPU work was recorded, or none can be used.

    nsys writes a table only where there are rows, and records copies with kernels: GPU work without copies had none.
    """
    if not job.gpus:
        return no_gpu_work(CopySummary.id, job)
    missing = all(trace.copies is None and trace.memsets is None for trace in job.traces)
    if missing and any(trace.unreadable_records for trace in job.traces):
        return Skipped(CopySummary.id, "no record of a copy can be used; the notes say why", None)
    records = _Records.concatenate([piece for row, gpu in enumerate(job.gpus) for piece in _records_of(job, gpu, row)])
    rows = (_row(group, records, job.gpus) for group in group_durations(records))
    return CopySummary(tuple(sorted(rows, key=lambda row: (-row.total_ns, str(row)))))


ANALYSIS = Analysis(CopySummary, compute_copy_summary, of_host=False)


class _Records(Durations, frozen=True):
    """Copies and memsets that ran in a window; ``key`` packs direction, source and destination memory."""

    size_bytes: Int64Array


def _records_of(job: Job, gpu: Gpu, gpu_row: int) -> Iterator[_Records]:
    """The records of one GPU, a piece per report and table."""
    for report in distinct(gpu.activities.report).tolist():
        trace = job.traces[report]
        for source, table in (("copies", trace.copies), ("memsets", trace.memsets)):
            of_table = (gpu.activities.report == report) & gpu.activities.are_of(source)
            if table is None or not of_table.any():
                continue
            activities = gpu.activities.take(of_table)
            records = table.take(activities.row)
            durations = windowed_durations(activities, _keys(records), gpu_row, gpu.window_ns)
            yield _Records(**durations.columns(), size_bytes=records.size_bytes[durations.row])


def _keys(records: Copies | Memsets) -> Int64Array:
    if isinstance(records, Memsets):
        return _pack(*(np.full(len(records), kind) for kind in (MEMSET, NOT_KNOWN, NOT_KNOWN)))
    return _pack(*(np.where((kinds >= 0) & (kinds < MEMSET), kinds, NOT_KNOWN) for kinds in _kinds(records)))


def _kinds(copies: Copies) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Direction, source and destination memory; a copy within "devices" that are two is one between peers."""
    direction = np.where(between_devices(copies), CopyKind.PEER_TO_PEER, copies.copy_kind)
    return direction, copies.src_kind, copies.dst_kind


def _pack(direction: IdArray, src: IdArray, dst: IdArray) -> Int64Array:
    return direction.astype(np.int64) * 256 + src.astype(np.int64) * 16 + dst


def _row(group: DurationGroup, records: _Records, gpus: Sequence[Gpu]) -> CopyRow:
    direction, memories = group.key >> 8, (group.key >> 4 & 15, group.key & 15)
    members = records.take(records.key == group.key)
    sized = members.take((members.size_bytes >= 0) & (members.size_bytes < IMPOSSIBLE_BYTES))
    timed = sized.take(sized.whole_ns > 0)
    time_ns = int(sized.whole_ns.sum())
    limits = {row: _line_rate(direction, gpus[row]) for row in distinct(members.gpu_row).tolist()}
    fastest_link = max(
        (limit for limit in limits.values() if limit), key=lambda limit: limit.rate_bytes_per_s, default=None
    )
    return CopyRow(
        direction="memset" if direction == MEMSET else _name(CopyKind, direction) or "unknown",
        src_memory=_name(MemoryKind, memories[0]),
        dst_memory=_name(MemoryKind, memories[1]),
        count=group.count,
        gpu_count=group.gpu_count,
        size_bytes=int(sized.size_bytes.sum()) if len(sized) else None,
        unsized_count=len(members) - len(sized),
        total_ns=group.total_ns,
        median_ns=group.median_ns,
        p95_ns=group.p95_ns,
        rate_bytes_per_s=int(sized.size_bytes.sum()) * NS_PER_S / time_ns if time_ns else None,
        fastest_bytes_per_s=float((timed.size_bytes / timed.whole_ns).max() * NS_PER_S) if len(timed) else None,
        plausible_bytes_per_s=fastest_link.rate_bytes_per_s if fastest_link else None,
        plausible_source=fastest_link.source if fastest_link else None,
        implausible_count=_count_implausible(sized, limits),
    )


def _name(kinds: type[CopyKind | MemoryKind], number: int) -> str | None:
    """What ``run.json`` calls a kind; null for the unknown one and for numbers without a name."""
    known = {int(kind): kind.name.lower() for kind in kinds if kind.name != "UNKNOWN"}
    return known.get(number)


def _line_rate(direction: int, gpu: Gpu) -> LineRate | None:
    """What no copy of this direction on this GPU exceeds; null inside a device, where caches outrun the memory."""
    if direction == CopyKind.PEER_TO_PEER:
        return NVLINK_5
    return host_link(gpu.identity.name) if direction in HOST_LINK_KINDS else None


def _count_implausible(members: _Records, limits: Mapping[int, LineRate | None]) -> int:
    """Copies that moved bytes in no time, or faster than their own GPU's link."""
    count = int(((members.whole_ns == 0) & (members.size_bytes > 0)).sum())
    for gpu_row, limit in limits.items():
        if limit is not None:
            of_gpu = members.take((members.gpu_row == gpu_row) & (members.whole_ns > 0))
            longest_ns = of_gpu.whole_ns + TIMESTAMP_RESOLUTION_NS
            count += int((of_gpu.size_bytes > limit.rate_bytes_per_s / NS_PER_S * longest_ns).sum())
    return count
