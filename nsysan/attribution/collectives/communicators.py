"""The communicators of a job: which members are in each, and which of its ranks they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec
import numpy as np

from nsysan.attribution.collectives.calls import CallsOfReport, CommunicatorKey
from nsysan.attribution.collectives.members import Member
from nsysan.attribution.collectives.ranks import Ranks, introduced_ranks
from nsysan.model.arrays import Int64Array
from nsysan.model.tables import ABSENT

NOT_IN = -1


class Communicator(msgspec.Struct, frozen=True):
    """``size`` is null where nothing tells it; ``rank_of`` has the members whose rank in it is known."""

    name: str
    size: int | None
    rank_of: dict[int, int]
    description: str
    is_made_in_capture: bool
    """Whether members were seen to make it: the operations of those are counted from the first."""


class Communicators:
    """All communicators that calls name, over all reports."""

    def __init__(self, members: Sequence[Member], ranks: Ranks, calls: Sequence[CallsOfReport]) -> None:
        keys: dict[CommunicatorKey, int] = {}
        self._places = [[keys.setdefault(key, len(keys)) for key in found.communicators] for found in calls]
        told = [introduction for found in calls for introduction in found.introductions]
        introduced = introduced_ranks(members, told)
        sizes = {introduction.key: introduction.rank_count for introduction in told}
        made = frozenset(introduction.key for introduction in told if introduction.in_capture)
        self.all = tuple(_communicator(key, ranks, introduced, sizes, made) for key in keys)
        self.sizes = np.array([*(one.size or ABSENT for one in self.all), ABSENT], np.int64)
        """The size of each, ABSENT where it is not known; also at -1."""

    def of_calls(self, report: int, places: Int64Array) -> Int64Array:
        """The communicators that calls of a report name by a place in their own list; -1 stays."""
        own = np.array([*self._places[report], NOT_IN], np.int64)
        found: Int64Array = own[places]
        return found

    def ranks_in(self, communicators: Int64Array, members: Int64Array) -> Int64Array:
        """Each member's rank in the communicator beside it, ``NOT_IN`` where that is not known."""
        told = [(place, *pair) for place, one in enumerate(self.all) for pair in one.rank_of.items()]
        if not told or not len(members):
            return np.full(len(members), NOT_IN)
        in_places, in_members, ranks = np.array(told, np.int64).T
        stride = max(int(in_members.max()), int(members.max())) + 1
        order = np.argsort(in_places * stride + in_members)
        keys, wanted = (in_places * stride + in_members)[order], communicators * stride + members
        near = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
        return np.where((keys[near] == wanted) & (communicators >= 0), ranks[order][near], NOT_IN)


def _communicator(
    key: CommunicatorKey,
    ranks: Ranks,
    introduced: Mapping[str, dict[int, int]],
    sizes: Mapping[str, int],
    made: Collection[str],
) -> Communicator:
    name = key.name
    if name in introduced:
        return Communicator(name, sizes[name], introduced[name], key.description, is_made_in_capture=name in made)
    place_of = {rank: place for place, rank in enumerate(ranks.of_member)} if key.ranks else {}
    rank_of = {place_of[rank]: number for number, rank in enumerate(key.ranks) if rank in place_of}
    return Communicator(key.name, key.size, rank_of, key.description, is_made_in_capture=False)
