"""What a run of nccl-tests measured."""

from __future__ import annotations

import msgspec

from nsysan.model.evidence import EvidenceItem
from nsysan.model.kernels import Collective


class NcclTestRow(msgspec.Struct, frozen=True):
    """One size, in place or out of place. ``wrong_count`` is None where the data were not checked."""

    size_bytes: int
    element_count: int
    dtype: str
    reduction: str | None
    root: int | None
    in_place: bool
    time_ns: float
    algbw_bytes_per_s: float
    busbw_bytes_per_s: float
    wrong_count: int | None


class NcclTest(EvidenceItem, frozen=True):
    """One test: its rows in the order of the table, and what it ran on, None or empty where that is not told.

    ``kind`` is None where neither the test's name nor its ratio of busbw to algbw tells the collective;
    ``kind_is_inferred`` says that the ratio did. ``is_cpu_time`` is set where the times are those of the CPU.
    ``unusable_count`` is how many rows of the table have a figure that is no number, or no time.
    """

    kind: Collective | None
    kind_is_inferred: bool
    nccl_version: str | None
    rank_count: int | None
    node_count: int | None
    process_count: int | None
    gpu_names: tuple[str, ...]
    is_cpu_time: bool
    rows: tuple[NcclTestRow, ...]
    average_busbw_bytes_per_s: float | None
    unusable_count: int = 0
