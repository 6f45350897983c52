"""Which rank of the job each member is, how many ranks the job has, and what tells so."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from nsysan.attribution.collectives.calls import Introduction
from nsysan.attribution.collectives.members import Member
from nsysan.model.errors import UsageError
from nsysan.model.run import Note
from nsysan.model.text import LISTED_NAMES, display_text, natural_order
from nsysan.model.trace import RankSource, Trace, process_of
from nsysan.model.units import counted

_RECORDED = (RankSource.PROFILER, RankSource.MPI, RankSource.ENVIRONMENT)
"""What a report itself records, the surest first."""


class RankChoice(msgspec.Struct, frozen=True):
    """What the user says: ranks by file name, process id or device id, and how many ranks the job has.

    ``left_out_count`` reports of it could not be read: the job has at least as many ranks more than are given.
    """

    ranks: Mapping[str, int] = msgspec.field(default_factory=dict)
    world_size: int | None = None
    left_out_count: int = 0


class Claim(msgspec.Struct, frozen=True):
    """A rank that several members say they are, by one source, and the names of their reports."""

    rank: int
    source: RankSource
    reports: tuple[str, ...]


class Ranks(msgspec.Struct, frozen=True):
    """The rank of each member and what tells it; ``world_size`` is null where nothing tells how many there are.

    ``contested`` is the first rank that two members claim where that kept the surest source from being believed: then
    the reports may be of several runs.
    """

    of_member: tuple[int, ...]
    source: RankSource | None
    world_size: int | None
    contested: Claim | None = None

    @property
    def missing_count(self) -> int | None:
        """How many ranks of the job are not given, null where nothing tells how many there are."""
        return None if self.world_size is None else self.world_size - len(self.of_member)


def parse_ranks(written: str) -> dict[str, int]:
    """The ranks in ``FILE=RANK,...``. Raises UsageError where that is something else."""
    pairs = [part.rpartition("=") for part in written.split(",")]
    wrong = next((part for part in pairs if not part[0] or not re.fullmatch(r"[0-9]{1,7}", part[2])), None)
    if wrong is not None:
        raise UsageError(
            f"--ranks holds {display_text(''.join(wrong))!r}, which is no NAME=RANK.",
            "Write --ranks a.sqlite=0,b.sqlite=1.",
        )
    return {name.strip(): int(rank) for name, _, rank in pairs}


def ranks_of(
    traces: Sequence[Trace], members: Sequence[Member], introductions: Sequence[Introduction], choice: RankChoice
) -> Ranks:
    """The ranks by the surest source that gives every member one of its own.

    The user's word counts first, then NCCL's communicator of all ranks, PyTorch's profiler, MPI, the environment that
    the capture kept, and last the order of the files' names. Raises UsageError where the user's word cannot be.
    """
    if not members:
        return Ranks((), None, choice.world_size)
    told_size = _world_size(traces, len(members), introductions, choice)
    contested: Claim | None = None
    for source, ranks in _candidates(traces, members, introductions, choice):
        known = [rank for rank in ranks if rank is not None]
        if len(set(known)) == len(members) and (told_size is None or max(known) < told_size):
            return Ranks(tuple(known), source, told_size, contested)
        contested = contested or _contested(traces, members, source, ranks)
    raise AssertionError("an order gives every member a rank of its own")


def _contested(
    traces: Sequence[Trace], members: Sequence[Member], source: RankSource, ranks: Sequence[int | None]
) -> Claim | None:
    """The lowest rank that several members are by this source, None where each has its own or none."""
    twice = [rank for rank, count in Counter(ranks).items() if rank is not None and count > 1]
    if not twice:
        return None
    names = [traces[member.report].name for member, rank in zip(members, ranks, strict=True) if rank == min(twice)]
    return Claim(min(twice), source, tuple(dict.fromkeys(names)))


def rank_notes(ranks: Ranks) -> Iterator[Note]:
    """What a reader must know about the ranks: that they are guessed, that some are missing, or may be."""
    member_count = len(ranks.of_member)
    if ranks.contested is not None:
        yield Note("ranks_contested", _contested_sentence(ranks.contested))
    elif member_count > 1 and ranks.source in {RankSource.FILE_NAME, RankSource.DEVICE_ORDER}:
        by = "the names of their files" if ranks.source is RankSource.FILE_NAME else "process and device"
        yield Note("ranks_by_order", f"Nothing recorded tells the ranks: they are counted in the order of {by}.")
    if ranks.missing_count:
        yield Note(
            "ranks_missing",
            f"{len(ranks.of_member)} of {counted(ranks.world_size or 0, 'rank')} are given: who waited for whom is "
            "known only where all ranks of a communicator are among them.",
        )
    if ranks.world_size is None and member_count > 1 and ranks.contested is None:
        yield Note(
            "world_size_unknown",
            f"Nothing recorded tells how many ranks the job has: the {member_count} given are taken for all; "
            "--world-size says otherwise.",
        )


def _contested_sentence(claim: Claim) -> str:
    names = " and ".join(display_text(name) for name in claim.reports[:2])
    within = f"In {names} several processes" if len(claim.reports) == 1 else f"{names} both"
    return (
        f"{within} say that they are rank {claim.rank} ({claim.source.value}): they may be of several runs, so that "
        "nothing is said of waits where no communicator is known. Give the reports of one run, or say their ranks with "
        "--ranks."
    )


def _candidates(
    traces: Sequence[Trace], members: Sequence[Member], introductions: Sequence[Introduction], choice: RankChoice
) -> Iterator[tuple[RankSource, Sequence[int | None]]]:
    if choice.ranks:
        yield RankSource.USER, _chosen(traces, members, choice)
    yield RankSource.COMMUNICATOR, _introduced(members, introductions)
    alone = Counter(member.report for member in members)
    recorded = [
        [_recorded(traces[member.report], member, source, alone[member.report]) for member in members]
        for source in _RECORDED
    ]
    yield from zip(_RECORDED, recorded, strict=True)
    yield _together(recorded)
    if len(alone) == 1:
        yield RankSource.DEVICE_ORDER, list(range(len(members)))
        return
    order = sorted(range(len(members)), key=lambda place: (natural_order(traces[members[place].report].name), place))
    places = dict(zip(order, range(len(order)), strict=True))
    yield RankSource.FILE_NAME, [places[place] for place in range(len(members))]


def _together(recorded: Sequence[Sequence[int | None]]) -> tuple[RankSource, Sequence[int | None]]:
    """Each rank by the surest source that tells it, for reports that were made in several ways; and the least sure."""
    first = [
        next((place for place, rank in enumerate(told) if rank is not None), -1) for told in zip(*recorded, strict=True)
    ]
    ranks = [None if place < 0 else recorded[place][member] for member, place in enumerate(first)]
    return _RECORDED[max(first)], ranks


def _chosen(traces: Sequence[Trace], members: Sequence[Member], choice: RankChoice) -> list[int]:
    """The user's ranks, by the first of device id, process id and file name that is named."""
    found, used = [], set()
    for member in members:
        names = (member.id, str(process_of(member.global_pid)), traces[member.report].name)
        name = next((name for name in names if name in choice.ranks), None)
        if name is None:
            raise UsageError(
                f"--ranks gives no rank to {display_text(names[-1])}.",
                f"Name every file, or one of {names[0]}, {names[1]}.",
            )
        used.add(name)
        found.append(choice.ranks[name])
    if unused := sorted(set(choice.ranks) - used):
        known = ", ".join(display_text(trace.name) for trace in traces[:LISTED_NAMES])
        raise UsageError(f"--ranks names {display_text(unused[0])!r}, which is not given.", f"Given: {known}.")
    twice = [rank for rank, count in Counter(found).items() if count > 1]
    if twice:
        raise UsageError(f"--ranks gives rank {twice[0]} twice.", "Give each file, or each process, a rank of its own.")
    return found


def introduced_ranks(members: Sequence[Member], introductions: Sequence[Introduction]) -> dict[str, dict[int, int]]:
    """By communicator the rank in it of each member that was seen to make it."""
    of_process: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for place, member in enumerate(members):
        of_process[member.report, member.global_pid].append(place)
    found: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for told in introductions:
        places = of_process[told.report, told.global_pid]
        if len(places) > 1:
            places = [place for place in places if members[place].device_id == told.device_id]
        found[told.key].update(dict.fromkeys(places, told.rank))
    return dict(found)


def _introduced(members: Sequence[Member], introductions: Sequence[Introduction]) -> list[int | None]:
    """The ranks in the largest communicator, None of all where it does not hold every member."""
    size = max((told.rank_count for told in introductions), default=0)
    largest = [told for told in introductions if told.rank_count == size]
    for ranks in introduced_ranks(members, largest).values():
        if len(ranks) == len(members):
            return [ranks[place] for place in range(len(members))]
    return [None] * len(members)


def _recorded(trace: Trace, member: Member, source: RankSource, member_count: int) -> int | None:
    if source is RankSource.MPI:
        return trace.mpi_ranks.get(member.global_pid)
    # a report with several processes has the environment of what started them
    return trace.rank if trace.rank_source is source and member_count == 1 else None


def _world_size(
    traces: Sequence[Trace], member_count: int, introductions: Sequence[Introduction], choice: RankChoice
) -> int | None:
    """How many ranks the job has; what is told and smaller than what is given is of something else."""
    if choice.world_size is not None:
        if choice.world_size < member_count:
            raise UsageError(
                f"--world-size says {choice.world_size}, and {counted(member_count, 'rank')} are given.",
                "Give the number of ranks of the whole job.",
            )
        return choice.world_size
    sizes = [trace.world_size for trace in traces if trace.world_size is not None]
    sizes += [told.rank_count for told in introductions]
    largest = max(sizes, default=0)
    if choice.left_out_count:
        return max(largest, member_count + choice.left_out_count)
    return largest if largest >= member_count else None
