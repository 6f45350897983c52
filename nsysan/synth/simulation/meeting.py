"""When the ranks of a collective end, each by what it needs of the others."""

from __future__ import annotations

from nsysan.model.kernels import Collective
from nsysan.synth.simulation.program import Rendezvous
from nsysan.synth.simulation.timelines import CollectiveRun

FROM_ROOT = frozenset({Collective.BROADCAST, Collective.SCATTER})
TO_ROOT = frozenset({Collective.REDUCE, Collective.GATHER})


class Meeting:
    """The ranks of one instance, as they arrive. What a rank sends leaves without its receiver, as it fits a buffer.

    | kind | a rank ends its transfer after |
    |---|---|
    | broadcast, scatter | its own arrival and the root's |
    | reduce, gather | the last arrival if it is the root, else its own |
    | any other | the last arrival |
    """

    def __init__(self, rendezvous: Rendezvous) -> None:
        self._rendezvous = rendezvous
        self._rank_count = len(rendezvous.ranks)
        self._starts_ns: dict[int, int] = {}
        self._ends_ns: dict[int, int] = {}
        self._last_start_ns = 0

    def arrive(self, rank: int, start_ns: int) -> list[tuple[int, int]]:
        """The ranks that end now that ``rank`` is there, in the order they came, and when."""
        self._starts_ns[rank] = start_ns
        self._last_start_ns = max(self._last_start_ns, start_ns)
        ended = [(member, self._end_ns(member)) for member in self._decided_by(rank)]
        self._ends_ns.update(ended)
        return ended

    @property
    def run(self) -> CollectiveRun | None:
        """The whole instance once every rank has ended."""
        if len(self._ends_ns) < self._rank_count:
            return None
        starts_ns, ends_ns = (dict(sorted(times.items())) for times in (self._starts_ns, self._ends_ns))
        return CollectiveRun(self._rendezvous, starts_ns, ends_ns)

    def _decided_by(self, rank: int) -> list[int]:
        """Whose end is known once ``rank`` is there."""
        kind, root = self._rendezvous.collective, self._rendezvous.root
        complete = len(self._starts_ns) == self._rank_count
        if kind in FROM_ROOT:
            present = list(self._starts_ns) if rank == root else [rank]
            return present if root in self._starts_ns else []
        if kind in TO_ROOT:
            sender = [] if rank == root else [rank]
            return sender + ([root] if complete and root is not None else [])
        return list(self._starts_ns) if complete else []

    def _end_ns(self, rank: int) -> int:
        kind, root = self._rendezvous.collective, self._rendezvous.root
        after_ns = self._last_start_ns
        if kind in FROM_ROOT and root is not None:
            after_ns = max(self._starts_ns[rank], self._starts_ns[root])
        elif kind in TO_ROOT and rank != root:
            after_ns = self._starts_ns[rank]
        return after_ns + self._rendezvous.transfer_ns
