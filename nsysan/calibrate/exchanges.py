"""One collective on the GPUs: its buffers, how long it takes on all ranks together, and whether its data are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsysan.calibrate.bench import Bench
from nsysan.calibrate.libraries import native
from nsysan.calibrate.sampling import batch
from nsysan.model.kernels import Collective

if TYPE_CHECKING:
    from nsysan.calibrate._native import Batch, Buffer, Communicators

ELEMENT_BYTES = 4
_FLOAT32 = 7
"""NCCL's number; fp32 sums of small whole numbers are exact."""
DTYPE = "fp32"
_POISON = 0xFF
_CHECKED_BYTES = 4096

NUMBERS = {
    Collective.ALL_REDUCE: 0,
    Collective.ALL_GATHER: 1,
    Collective.REDUCE_SCATTER: 2,
    Collective.BROADCAST: 3,
    Collective.REDUCE: 4,
    Collective.ALL_TO_ALL: 5,
    Collective.SEND_RECV: 6,
}
"""The compiled module's."""
IN_PARTS = frozenset({Collective.ALL_GATHER, Collective.REDUCE_SCATTER, Collective.ALL_TO_ALL})
"""Of these S is the whole array, of which NCCL is told one rank's part."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The communicators of this process and buffers of the largest size, one pair a GPU, filled with the rank + 1."""

    bench: Bench
    communicators: Communicators
    ends: list[tuple[Buffer, Buffer]]
    first_rank: int

    @classmethod
    def of(cls, bench: Bench, size_bytes: int) -> Group:
        """All ranks, met. Raises CallFailedError of the compiled module where NCCL cannot."""
        ranks = bench.ranks
        if ranks.is_alone:
            communicators = native().Communicators.of_process(bench.nccl, bench.devices)
        else:
            unique_id = ranks.share(bench.nccl.unique_id().hex() if ranks.rank == 0 else None)[0]
            communicators = native().Communicators.of_rank(
                bench.nccl, bench.device, rank=ranks.rank, rank_count=ranks.count, unique_id=bytes.fromhex(unique_id)
            )
        ends = []
        for place, device in enumerate(bench.devices):
            send, receive = (native().Buffer(device, size_bytes) for _ in range(2))
            send.tile(np.float32(ranks.rank + place + 1).tobytes())
            receive.fill(_POISON)
            ends.append((send, receive))
        return cls(bench, communicators, ends, ranks.rank)

    @property
    def rank_count(self) -> int:
        """How many ranks there are."""
        return self.communicators.rank_count

    def element_count(self, kind: Collective, size_bytes: int) -> int:
        """What NCCL is told for S bytes; 0 where they are too few for every rank to have some."""
        parts = self.rank_count if kind in IN_PARTS else 1
        return size_bytes // (ELEMENT_BYTES * parts)

    def size_bytes(self, kind: Collective, element_count: int) -> int:
        """S of so many elements."""
        return element_count * ELEMENT_BYTES * (self.rank_count if kind in IN_PARTS else 1)

    def times_ns(self, kind: Collective, element_count: int, one: Batch) -> list[float]:
        """Of each sample the slowest rank's time of a call."""
        own = self.communicators.time(
            NUMBERS[kind],
            data_type=_FLOAT32,
            element_bytes=ELEMENT_BYTES,
            element_count=element_count,
            ends=self.ends,
            batch=one,
        )
        slowest = [max(times) for times in zip(*own, strict=True)]
        everyone = self.bench.ranks.share(slowest)
        return [max(times) for times in zip(*everyone, strict=True)]

    def wrong_count(self, kind: Collective, element_count: int) -> int:
        """How many of the first elements that each rank got are not what they must be, over all ranks."""
        for _, receive in self.ends:
            receive.fill(_POISON)
        self.times_ns(kind, element_count, batch(1, 1, is_held=False))
        wrong = 0
        for place, (_, receive) in enumerate(self.ends):
            rank = self.first_rank + place
            expected = self._expected(kind, rank)
            if expected is not None:
                count = min(element_count, _CHECKED_BYTES // ELEMENT_BYTES)
                found = np.frombuffer(receive.read(0, count * ELEMENT_BYTES), np.float32)
                wrong += int((found != np.float32(expected)).sum())
        return sum(self.bench.ranks.share(wrong))

    def _expected(self, kind: Collective, rank: int) -> float | None:
        """The first elements that a rank gets, None where it gets none: rank r sends r + 1."""
        total = self.rank_count * (self.rank_count + 1) / 2
        if kind in {Collective.ALL_REDUCE, Collective.REDUCE_SCATTER}:
            return total
        if kind is Collective.REDUCE:
            return total if rank == 0 else None
        if kind is Collective.SEND_RECV:
            return float((rank - 1) % self.rank_count + 1)
        return 1.0
