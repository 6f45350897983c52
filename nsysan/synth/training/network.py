"""How long what ranks tell each other is on its way, where nobody is late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from nsysan.model.kernels import Collective
from nsysan.model.units import NS_PER_S
from nsysan.synth.simulation.program import Message


class Network(msgspec.Struct, frozen=True):
    """Every link reaches ``bus_bytes_per_s`` (nccl-tests' busbw); None: nothing takes time.

    Each simulated rank stands for ``alike_ranks``.
    """

    bus_bytes_per_s: float | None
    alike_ranks: int = 1

    def collective_ns(self, kind: Collective, size_bytes: int, rank_count: int) -> int:
        """A collective over an array of ``size_bytes``: bytes x factor / busbw, the factor of nccl-tests."""
        return self._ns(size_bytes * bus_factor(kind, rank_count * self.alike_ranks))

    def messages_ns(self, messages: Iterable[Message]) -> int:
        """Messages that start together: as long as the rank takes that sends or receives most."""
        moved_bytes: Counter[tuple[str, int]] = Counter()
        for message in messages:
            if message.source != message.target:
                moved_bytes["out", message.source] += message.size_bytes
                moved_bytes["in", message.target] += message.size_bytes
        return self._ns(max(moved_bytes.values(), default=0))

    def _ns(self, bus_bytes: float) -> int:
        return 0 if self.bus_bytes_per_s is None else round(bus_bytes / self.bus_bytes_per_s * NS_PER_S)


def bus_factor(kind: Collective, rank_count: int) -> float:
    """What nccl-tests multiplies the bytes of a collective with."""
    if kind is Collective.ALL_REDUCE:
        return 2 * (rank_count - 1) / rank_count
    if kind in {Collective.BROADCAST, Collective.REDUCE}:
        return 1
    return (rank_count - 1) / rank_count
