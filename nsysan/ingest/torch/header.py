"""What a trace says once: its GPUs, the rank it is of, and what its times count from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from nsysan.ingest.torch.sm_limits import sm_limits_of
from nsysan.model.software import Software, cuda_version
from nsysan.model.text import display_text
from nsysan.model.trace import PhysicalGpu, ProcessGroup, SmLimits

_LARGEST_COUNT = 1 << 62
_EARLIEST_EPOCH_NS = 10**18
"""2001: older traces count from 1970 themselves, newer ones from a base a few months back."""

JOB_KEY = "distributedInfo"
_DRIVER_CUDA_KEY = "cuda_driver_version"
_RUNTIME_CUDA_KEY = "cuda_runtime_version"
KEYS = frozenset({"deviceProperties", JOB_KEY, "baseTimeNanoseconds", _DRIVER_CUDA_KEY, _RUNTIME_CUDA_KEY})
"""What is read beside the events."""


class Header(msgspec.Struct, frozen=True):
    """GPUs in order of their CUDA ordinal, what their multiprocessors hold, groups as listed; the rest where told."""

    gpus: tuple[PhysicalGpu, ...]
    sm_limits: Mapping[int, SmLimits]
    rank: int | None
    world_size: int | None
    base_time_ns: int | None
    process_groups: tuple[ProcessGroup, ...]
    software: Software

    def utc_ns(self, time_ns: int) -> int | None:
        """A time of the trace as ns since 1970; None where it does not tell what it counts from, or tells nonsense."""
        if time_ns >= _EARLIEST_EPOCH_NS:
            return time_ns
        since_1970_ns = -1 if self.base_time_ns is None else self.base_time_ns + time_ns
        return since_1970_ns if 0 <= since_1970_ns < _LARGEST_COUNT else None


def read_header(members: Mapping[str, object]) -> Header:
    """The header in the members of the trace; what is of another type than Kineto writes counts as not told."""
    distributed = members.get(JOB_KEY)
    job = distributed if isinstance(distributed, dict) else {}
    described = members.get("deviceProperties")
    gpus = [entry for entry in described if isinstance(entry, dict)] if isinstance(described, list) else []
    return Header(
        gpus=_gpus(gpus),
        sm_limits=dict(_sm_limits(gpus)),
        rank=_count(job.get("rank")),
        world_size=_count(job.get("world_size")) or None,
        base_time_ns=_count(members.get("baseTimeNanoseconds")),
        process_groups=tuple(_groups(job.get("pg_config"))),
        software=Software(
            driver_cuda=cuda_version(_count(members.get(_DRIVER_CUDA_KEY)) or 0),
            runtime_cuda=cuda_version(_count(members.get(_RUNTIME_CUDA_KEY)) or 0),
            nccl=display_text(_text(job.get("nccl_version"))) or None,
        ),
    )


def _groups(listed: object) -> Iterator[ProcessGroup]:
    for entry in listed if isinstance(listed, list) else []:
        name = entry.get("pg_name") if isinstance(entry, dict) else None
        if isinstance(name, str):
            # some releases call the size by the one name, some by the other
            size = _count(entry.get("pg_size", entry.get("group_size")))
            ranks = _ranks(entry.get("ranks"))
            yield ProcessGroup(_text(name), _text(entry.get("pg_desc")), size or len(ranks) or None, ranks)


def _ranks(listed: object) -> tuple[int, ...]:
    """All of the ranks or none of them: a list of some would pass for the whole group."""
    ranks = [_count(rank) for rank in listed] if isinstance(listed, list) else []
    known = tuple(rank for rank in ranks if rank is not None)
    return known if len(known) == len(ranks) else ()


def _gpus(entries: Sequence[Mapping[str, object]]) -> tuple[PhysicalGpu, ...]:
    gpus = {gpu.gpu_id: gpu for gpu in map(_gpu, entries) if gpu is not None}
    return tuple(gpus[gpu_id] for gpu_id in sorted(gpus))


def _sm_limits(entries: Sequence[Mapping[str, object]]) -> Iterator[tuple[int, SmLimits]]:
    for entry in entries:
        gpu_id, limits = _count(entry.get("id")), sm_limits_of(entry)
        if gpu_id is not None and limits is not None:
            yield gpu_id, limits


def _gpu(properties: Mapping[str, object]) -> PhysicalGpu | None:
    gpu_id, name = _count(properties.get("id")), properties.get("name")
    if gpu_id is None:
        return None
    return PhysicalGpu(
        gpu_id=gpu_id,
        name=_text(name) or None,
        uuid=None,
        bus_location=None,
        sm_count=_count(properties.get("numSms")) or None,
        memory_bytes=_count(properties.get("totalGlobalMem")) or None,
        memory_bandwidth_bytes_per_s=None,
    )


def _text(value: object) -> str:
    """The text, a lone surrogate in it a question mark; empty where it is none."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _LARGEST_COUNT else None
