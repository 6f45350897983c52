"""What is told of the collectives of one kind, group, size and stage."""

from __future__ import annotations

import msgspec

from nsysan.hardware.answers import Level
from nsysan.model.confidence import Confidence
from nsysan.model.purposes import Purpose
from nsysan.model.stages import Stage


class CollectiveRow(msgspec.Struct, frozen=True, kw_only=True):
    """Instances of one kind, communicator, size and stage of the step.

    ``purpose`` is what the ranks share, as the group's name says it (confidence high) or as its ranks, its traffic and
    the stage of that suggest. ``stage`` is null without steps, and where the ranks run it in different ones.

    ``duration_ns`` and ``exposed_ns`` are sums over ranks of all ``count`` instances. ``transfer_ns``, counted once an
    instance, and ``wait_ns``, its sum over ranks, are of the ``complete_count`` in which no rank is missing, and null
    where nothing is known of them: ``unresolved`` says why. ``wait_by_rank_ns`` is in the order of ``ranks``. ``bytes``
    is S of one instance, the whole array, null where it is not known or they differ. ``contended_frac`` is the share of
    the transfer, over ranks, that ran beside computing. ``ceiling_bytes_per_s`` is the bus bandwidth that its like
    reached elsewhere, null where nobody tells; ``ceiling_level`` and ``ceiling_source`` say how that is known.
    ``skew_ratio``, of what each rank sends to all, is what the busiest rank sends or receives over the mean of the
    ranks; ``busiest_rank`` is that rank.
    """

    kind: str
    backend: str | None
    communicator: str | None
    purpose: Purpose | None
    purpose_confidence: Confidence | None = None
    ranks: tuple[int, ...]
    nodes: int | None
    dtype: str | None
    stage: Stage | None
    count: int
    complete_count: int
    bytes: int | None
    duration_ns: int
    exposed_ns: int
    transfer_ns: int | None
    wait_ns: int | None
    wait_by_rank_ns: tuple[int, ...] | None
    algbw_bytes_per_s: float | None
    busbw_bytes_per_s: float | None
    contended_frac: float | None
    ceiling_bytes_per_s: float | None
    ceiling_source: str | None
    ceiling_level: Level | None = None
    unresolved: str | None
    skew_ratio: float | None = None
    busiest_rank: int | None = None
