"""One collective on the GPUs: its buffers, how long it takes on all ranks together, and whether its data are right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import numpy.typing as npt

from nsysan.calibrate.bench import Bench
from nsysan.calibrate.libraries import native
from nsysan.calibrate.sampling import batch
from nsysan.model.ceilings import Timing
from nsysan.model.errors import MissingToolError
from nsysan.model.kernels import Collective

if TYPE_CHECKING:
    from nsysan.calibrate._native import Batch, Buffer, Communicators

ELEMENT_BYTES = 4
_FLOAT32 = 7
"""NCCL's number; fp32 sums of small whole numbers are exact."""
DTYPE = "fp32"
_POISON = 0xFF
_CHECKED_BYTES = 2048
"""At each end of what a rank gets from another."""

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
_GOT_IN_PARTS = frozenset({Collective.ALL_GATHER, Collective.ALL_TO_ALL})
_ENDED_TOGETHER = frozenset({Collective.ALL_REDUCE, *IN_PARTS})
"""No rank has all of its data before the last rank has come."""


class Group(msgspec.Struct, frozen=True, eq=False):
    """The communicators of this process and buffers of the largest size, one pair a GPU, filled with the rank + 1."""

    bench: Bench
    communicators: Communicators
    ends: list[tuple[Buffer, Buffer]]
    first_rank: int

    @classmethod
    def of(cls, bench: Bench, size_bytes: int) -> Group:
        """All ranks, met.

        Raises CallFailedError of the compiled module where NCCL cannot, MissingToolError where a rank is not able to.
        """
        ranks = bench.ranks
        if ranks.is_alone:
            communicators = native().Communicators.of_process(bench.nccl, bench.devices)
        else:
            unique_id = _common_id(bench)
            communicators = native().Communicators.of_rank(
                bench.nccl, bench.device, rank=ranks.rank, rank_count=ranks.count, unique_id=unique_id
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

    def times_ns(
        self, kind: Collective, element_count: int, one: Batch, timing: Timing = Timing.PIPELINED
    ) -> list[float]:
        """Of each sample the time of a call: that of the slowest rank.

        Where calls are isolated no rank begins with another, and those that come early wait in the call: the time of
        the last to come, which waits for nobody, is that of the transfer. A trace is read so, too.
        """
        own = self.communicators.time(
            NUMBERS[kind],
            data_type=_FLOAT32,
            element_bytes=ELEMENT_BYTES,
            element_count=element_count,
            ends=self.ends,
            batch=one,
        )
        chosen = min if timing is Timing.ISOLATED and kind in _ENDED_TOGETHER else max
        of_process = [chosen(times) for times in zip(*own, strict=True)]
        everyone = self.bench.ranks.share(of_process)
        return [chosen(times) for times in zip(*everyone, strict=True)]

    def wrong_count(self, kind: Collective, element_count: int) -> int:
        """How many elements at the ends of what each rank got from each are not what they must be, over all ranks."""
        for _, receive in self.ends:
            receive.fill(_POISON)
        self.times_ns(kind, element_count, batch(1, 1, is_held=False))
        wrong = 0
        for place, (_, receive) in enumerate(self.ends):
            for part, expected in enumerate(self._expected(kind, self.first_rank + place)):
                found = _ends_of(receive, part * element_count, element_count)
                wrong += int((found != np.float32(expected)).sum())
        return sum(self.bench.ranks.share(wrong))

    def _expected(self, kind: Collective, rank: int) -> list[float]:
        """What all elements of each part that a rank gets are, none where it gets none: rank r sends r + 1."""
        total = self.rank_count * (self.rank_count + 1) / 2
        if kind in _GOT_IN_PARTS:
            return [sender + 1.0 for sender in range(self.rank_count)]
        if kind in {Collective.ALL_REDUCE, Collective.REDUCE_SCATTER}:
            return [total]
        if kind is Collective.REDUCE:
            return [total] if rank == 0 else []
        if kind is Collective.SEND_RECV:
            return [float((rank - 1) % self.rank_count + 1)]
        return [1.0]


def _ends_of(buffer: Buffer, first: int, element_count: int) -> npt.NDArray[np.float32]:
    """The first and the last of so many elements from ``first`` on."""
    at_end = _CHECKED_BYTES // ELEMENT_BYTES
    spans = [(first, element_count)]
    if element_count > 2 * at_end:
        spans = [(first, at_end), (first + element_count - at_end, at_end)]
    read = (buffer.read(begin * ELEMENT_BYTES, count * ELEMENT_BYTES) for begin, count in spans)
    return np.frombuffer(b"".join(read), np.float32)


def _common_id(bench: Bench) -> bytes:
    """What NCCL knows the group by, from the first rank.

    Raises MissingToolError where a rank cannot take part, before any waits in NCCL for one that will not come.
    """
    told = bench.ranks.share(_readiness(bench))
    lacking = [f"rank {rank}: {one['lacks']}" for rank, one in enumerate(told) if one["lacks"]]
    if lacking:
        raise MissingToolError(f"Not every rank can take part: {'; '.join(lacking)}")
    bench.bus_ids = tuple(told[rank]["bus_id"] for rank in bench.ranks.neighbours)
    uuids = [one["uuid"] for one in told]
    for rank, uuid in enumerate(uuids):
        if (first := uuids.index(uuid)) < rank:
            raise MissingToolError(
                f"Ranks {first} and {rank} have the same GPU.", "Start one process for each GPU of a machine."
            )
    return bytes.fromhex(told[0]["id"])


def _readiness(bench: Bench) -> dict[str, str | None]:
    """What the other ranks need of this one; ``lacks`` is why it cannot take part."""
    try:
        facts, nccl = bench.device.facts, bench.nccl
        unique_id = nccl.unique_id().hex() if bench.ranks.rank == 0 else None
    except (MissingToolError, native().CallFailedError) as error:
        return {"lacks": str(error).splitlines()[0]}
    return {"lacks": None, "id": unique_id, "uuid": facts.uuid.hex(), "bus_id": facts.bus_id}
