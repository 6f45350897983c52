"""Collectives of the two GPUs, and who came late to them."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives, RankRow
from nsysan.analysis.lateness_causes import WhyLate
from nsysan.analysis.stragglers import Pattern, Straggler, Stragglers
from nsysan.model.confidence import Confidence
from nsysan.model.lateness import Lateness
from nsysan.model.purposes import Purpose
from nsysan.model.trace import RankSource

ALL_REDUCES = CollectiveRow(
    kind="all_reduce",
    backend="nccl",
    communicator="0xd1373f8c6ac1ba54",
    purpose=Purpose.DATA_PARALLEL,
    purpose_confidence=Confidence.HIGH,
    ranks=(0, 1),
    nodes=1,
    dtype="BFloat16",
    stage=None,
    count=10,
    complete_count=9,
    bytes=300_000_000,
    duration_ns=250_000_000,
    exposed_ns=200_000_000,
    transfer_ns=30_000_000,
    wait_ns=120_000_000,
    wait_by_rank_ns=(100_000_000, 20_000_000),
    algbw_bytes_per_s=9e10,
    busbw_bytes_per_s=9e10,
    contended_frac=0.25,
    ceiling_bytes_per_s=1.2e11,
    ceiling_source="measured all_reduce of 2 ranks",
    unresolved=None,
)
UNRESOLVED = replace(
    ALL_REDUCES,
    kind="broadcast",
    complete_count=0,
    bytes=None,
    duration_ns=50_000_000,
    transfer_ns=None,
    wait_ns=None,
    wait_by_rank_ns=None,
    algbw_bytes_per_s=None,
    busbw_bytes_per_s=None,
    contended_frac=None,
    ceiling_bytes_per_s=None,
    ceiling_source=None,
    unresolved="its root is not recorded",
)
COLLECTIVES = Collectives(
    collectives=(ALL_REDUCES, UNRESOLVED),
    collectives_omitted_count=3,
    ranks=(
        RankRow(0, "gpu0/p100", RankSource.ENVIRONMENT, 100_000_000, 90_000_000, 10_000_000),
        RankRow(1, "gpu1/p100", RankSource.ENVIRONMENT, 20_000_000, 15_000_000, 10_000_000),
    ),
    world_size=2,
)
STRAGGLERS = Stragglers(
    (
        Straggler(
            rank=1,
            device="gpu1/p100",
            late_count=8,
            instance_count=9,
            late_frac=8 / 9,
            pattern=Pattern.PERSISTENT,
            late_ns=12_000_000.0,
            caused_ns=100_000_000,
            why=WhyLate(Lateness.CLOCK_THROTTLE, 90_000_000.0, 1.35),
        ),
        Straggler(0, "gpu0/p100", 1, 9, 1 / 9, Pattern.ROTATING, 20_000_000.0, 20_000_000, None),
    )
)
