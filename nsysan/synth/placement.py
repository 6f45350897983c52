"""Where a rank runs, and in which file it is recorded."""

from __future__ import annotations

import uuid
from enum import Enum

import msgspec
from msgspec.structs import replace

from nsysan.synth.session import WITH_THE_JOB, Session

GPUS_PER_NODE = 8
_FIRST_PID = 1_000


class Layout(str, Enum):
    """All ranks in one report, as when nsys wraps torchrun on one machine, or a report of each rank's own.

    In the one that is ``MASKED``, CUDA_VISIBLE_DEVICES leaves each process its own GPU, which it sees as device 0.
    """

    ONE = "one"
    MASKED = "masked"
    PER_RANK = "per-rank"


class Placement(msgspec.Struct, frozen=True):
    """The process and the GPU of a rank, which the process sees as CUDA device ``device_id``."""

    rank: int
    file: str
    host: str
    pid: int
    gpu_id: int
    device_id: int
    uuid: str
    session: Session = WITH_THE_JOB


def placements(
    name: str, rank_count: int, layout: Layout, suffix: str = ".sqlite", ranks_per_node: int = GPUS_PER_NODE
) -> tuple[Placement, ...]:
    """Where ranks run: all on one node in one file, or so many a node in files of their own, ending in ``suffix``."""
    if layout is not Layout.PER_RANK:
        places = tuple(_place(rank, f"{name}{suffix}", 0, rank) for rank in range(rank_count))
        return tuple(replace(place, device_id=0) for place in places) if layout is Layout.MASKED else places
    digits = len(str(rank_count - 1))
    return tuple(
        _place(rank, f"{name}-rank{rank:0{digits}}{suffix}", *divmod(rank, ranks_per_node))
        for rank in range(rank_count)
    )


def gpu_uuid(node: int, gpu_id: int) -> str:
    """An id that no other GPU of the job has."""
    return str(uuid.UUID(int=(node + 1) << 64 | gpu_id + 1))


def _place(rank: int, file: str, node: int, gpu_id: int) -> Placement:
    return Placement(rank, file, f"node{node}", _FIRST_PID + rank, gpu_id, gpu_id, gpu_uuid(node, gpu_id))
