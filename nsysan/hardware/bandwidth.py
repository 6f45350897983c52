"""Bandwidth as nccl-tests counts it: GB are 10^9 bytes, and the bus factor belongs to the collective."""

from __future__ import annotations

from nsysan.model.kernels import Collective
from nsysan.model.units import NS_PER_S

_SHARED = frozenset(
    {
        Collective.ALL_GATHER,
        Collective.REDUCE_SCATTER,
        Collective.ALL_TO_ALL,
        Collective.GATHER,
        Collective.SCATTER,
    }
)
_WHOLE = frozenset({Collective.BROADCAST, Collective.REDUCE, Collective.SEND_RECV})


def bus_factor(kind: Collective, rank_count: int) -> float | None:
    """What algbw is to be multiplied with to be compared with a link; null where nccl-tests has none."""
    if kind is Collective.ALL_REDUCE:
        return 2 * (rank_count - 1) / rank_count
    if kind in _SHARED:
        return (rank_count - 1) / rank_count
    return 1.0 if kind in _WHOLE else None


def rate_bytes_per_s(size_bytes: int, time_ns: int) -> float | None:
    """Bytes over time; null where no time passed."""
    return size_bytes * NS_PER_S / time_ns if time_ns > 0 else None
