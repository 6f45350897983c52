"""Communicators as PyTorch knows them, and what its profiler says of a collective (``record_param_comms``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nsysan.model.kernels import Collective
from nsysan.model.purposes import Purpose
from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.program import Message, Rendezvous

_ELEMENT_BYTES = 2
_DEFAULT = "0"
_NAMES = {
    Collective.ALL_REDUCE: "allreduce",
    Collective.ALL_GATHER: "_allgather_base",
    Collective.REDUCE_SCATTER: "_reduce_scatter_base",
    Collective.ALL_TO_ALL: "all_to_allv",
}
_PART_GOES_IN = frozenset({Collective.ALL_GATHER, Collective.GATHER})
_PART_COMES_OUT = frozenset({Collective.REDUCE_SCATTER, Collective.SCATTER})

Arguments = Mapping[str, object]


class ProcessGroups:
    """The groups of a job: the default one of all ranks, which data parallelism over all of them uses, then others."""

    def __init__(self, rank_count: int, communicators: Sequence[Communicator]) -> None:
        default = Communicator(Purpose.DATA_PARALLEL, tuple(range(rank_count)))
        others = [found for found in communicators if found != default]
        self._names = {default: _DEFAULT} | {found: str(number) for number, found in enumerate(others, start=1)}

    def of_rank(self, rank: int) -> list[Arguments]:
        """The groups that a rank is in, as the profiler lists them."""
        return [
            {
                "pg_name": name,
                "pg_desc": "default_pg" if name == _DEFAULT else group.purpose.value,
                "pg_size": len(group.ranks),
                "ranks": list(group.ranks),
            }
            for group, name in self._names.items()
            if rank in group.ranks
        ]

    def recorded(self, rendezvous: Rendezvous, rank: int) -> Iterator[Arguments]:
        """What is said of one rank's part: of messages that are no all-to-all, one by one."""
        group = rendezvous.communicator
        name = self._names[group]
        fixed = {"dtype": "BFloat16", "Group size": len(group.ranks), "Process Group Name": name}
        if name != _DEFAULT:
            fixed |= {"Process Group Description": group.purpose.value, "Process Group Ranks": str(list(group.ranks))}
        for named in _parts(rendezvous, rank):
            yield {**named, **fixed}


def _parts(rendezvous: Rendezvous, rank: int) -> Iterator[Arguments]:
    kind = rendezvous.collective
    if kind is Collective.SEND_RECV:
        for message in rendezvous.messages:
            if rank in {message.source, message.target}:
                yield _message(message, rank, rendezvous.communicator.ranks)
        return
    name = _NAMES.get(kind, kind.value)
    if rendezvous.messages:
        into = [message.size_bytes // _ELEMENT_BYTES for message in rendezvous.messages if message.source == rank]
        out_of = [message.size_bytes // _ELEMENT_BYTES for message in rendezvous.messages if message.target == rank]
        splits = {"In split size": str(into), "Out split size": str(out_of)}
        yield {"Collective name": name, "In msg nelems": sum(into), "Out msg nelems": sum(out_of), **splits}
        return
    whole = rendezvous.size_bytes // _ELEMENT_BYTES
    part = whole // len(rendezvous.ranks)
    into_count = part if kind in _PART_GOES_IN else whole
    out_count = part if kind in _PART_COMES_OUT else whole
    yield {"Collective name": name, "In msg nelems": into_count, "Out msg nelems": out_count}


def _message(message: Message, rank: int, ranks: Sequence[int]) -> Arguments:
    """A message as its sender or its receiver calls it; peers are counted within the group."""
    count = message.size_bytes // _ELEMENT_BYTES
    sends = message.source == rank
    peer = {"Dst Rank": ranks.index(message.target)} if sends else {"Src Rank": ranks.index(message.source)}
    return {"Collective name": "send" if sends else "recv", "In msg nelems": count, "Out msg nelems": count, **peer}
