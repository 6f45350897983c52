"""Pipelines: ranks in a row, each of which passes messages on to the next and gets others back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from nsysan.attribution.collectives.kinds import SEND_RECV
from nsysan.attribution.collectives.measured import Measured
from nsysan.attribution.collectives.operations import NONE, Operations

_NEIGHBOURS = 2
"""A stage has one before and one after it at most."""


class Pipeline(msgspec.Struct, frozen=True):
    """One member a stage, in order; ``boundaries`` are the series between stage k and the next, as places."""

    members: tuple[int, ...]
    boundaries: tuple[tuple[int, ...], ...]


def pipelines_of(measured: Sequence[Measured], operations: Operations, rank_of: Sequence[int]) -> tuple[Pipeline, ...]:
    """The rows of ranks that messages between two link, the first stage at the end with the lower rank.

    Between two stages some messages go one way alone: the first part of a batch has none to meet. Two ranks whose every
    message is answered in the same kernel exchange something else. Of two ranks that are all there are each one's peer
    is the other, told or not.
    """
    links: defaultdict[int, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place, one in enumerate(measured):
        if _passes_on(one, operations, are_all=len(rank_of) == _NEIGHBOURS):
            first, second = one.series.members
            links[first][second].append(place)
            links[second][first].append(place)
    found, seen = [], set[int]()
    for member in sorted(links, key=lambda member: (len(links[member]), rank_of[member])):
        row = _row_from(member, links, rank_of) if member not in seen else ()
        seen.update(row)
        if row and all(len(links[stage]) <= _NEIGHBOURS for stage in row):
            boundaries = tuple(tuple(links[one][other]) for one, other in pairwise(row))
            found.append(Pipeline(row, boundaries))
    return tuple(sorted(found, key=lambda pipeline: rank_of[pipeline.members[0]]))


def stage_of_members(pipelines: Sequence[Pipeline]) -> dict[int, int]:
    """The stage of each member of a pipeline, the first 0."""
    return {member: stage for pipeline in pipelines for stage, member in enumerate(pipeline.members)}


def across_stages(measured: Iterable[Measured], stages: Mapping[int, int]) -> Iterator[Measured]:
    """The series whose waits are known and in which ranks of several stages meet: waiting there is pipeline bubble."""
    for one in measured:
        if one.waits is not None and len({stages.get(member) for member in one.series.members}) > 1:
            yield one


def _passes_on(one: Measured, operations: Operations, *, are_all: bool) -> bool:
    series = one.series
    if series.kind != SEND_RECV or len(series.members) != _NEIGHBOURS:
        return False
    rows = series.table[series.table >= 0]
    knows_peers = (operations.peer[rows] >= 0).all() or (are_all and (operations.peer[rows] == NONE).all())
    return bool(knows_peers and (operations.message_count[rows] == 1).any())


def _row_from(first: int, links: Mapping[int, Mapping[int, list[int]]], rank_of: Sequence[int]) -> tuple[int, ...]:
    """The members linked to this one, neighbour after neighbour; of a ring towards the lower rank."""
    row, seen, waiting = [], {first}, [first]
    while waiting:
        member = waiting.pop()
        row.append(member)
        fresh = sorted((other for other in links[member] if other not in seen), key=rank_of.__getitem__, reverse=True)
        # of a ring's two ways the second is met again from behind
        fresh = fresh[-1:] if member == first else fresh
        seen.update(fresh)
        waiting += fresh
    return tuple(row)
