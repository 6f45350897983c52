"""What was copied between memories, how fast, and whether the rates can be true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class CopyRow:
    """The copies (or memsets) of one direction and pair of memory kinds that ran in the windows.

    ``direction`` is host_to_device, device_to_host, device_to_device, peer_to_peer, host_to_host, unified_*, memset
    or unknown; the memories are pageable, pinned, device, array, managed and so on, or null where unrecorded.
    ``rate_bytes_per_s`` = bytes over time of the whole copies, null where that is 0/0. ``implausible_count`` copies are
    faster than ``plausible_bytes_per_s`` (whose source is named beside it; null: no bound is known), or moved bytes in
    no time.
    """

    direction: str
    src_memory: str | None
    dst_memory: str | None
    count: int
    gpu_count: int
    size_bytes: int
    total_ns: int
    median_ns: float
    p95_ns: int
    rate_bytes_per_s: float | None
    fastest_bytes_per_s: float | None
    plausible_bytes_per_s: float | None
    plausible_source: str | None
    implausible_count: int


@dataclass(frozen=True, slots=True)
class CopySummary:
    """Copies and memsets by direction and memory kinds, most time first."""

    id: ClassVar[str] = "copy_summary"

    copies: tuple[CopyRow, ...]
