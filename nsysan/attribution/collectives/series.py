"""Operations that belong together: of one kind on one communicator, or, where none is known, whose ends agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.attribution.collectives.alignment import AGREEMENT_NS, align, placed, placed_by_number
from nsysan.attribution.collectives.clock_line import ClockLine
from nsysan.attribution.collectives.communicators import Communicator
from nsysan.attribution.collectives.kinds import SEND_RECV, Meeting
from nsysan.attribution.collectives.operations import NONE, SEVERAL, JobOperations
from nsysan.attribution.grouping import codes_of
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.tables import ABSENT

_TWO = 2
"""Of two ranks each can only exchange with the other."""


class Lane(msgspec.Struct, frozen=True, eq=False):
    """The operations of one member in a series, in order of begin, as rows of the operations."""

    member: int
    rows: Int64Array


class Series(msgspec.Struct, frozen=True, eq=False):
    """Instances of one kind: ``table`` has the row of each instance's operation on each of ``members``, -1 for none.

    ``communicator`` is a place in the job's, -1 where it is not known. ``is_whole`` says whether ``members`` are all
    that take part; ``unresolved`` is why nothing is known of waits, null where something is.
    """

    kind: int
    communicator: int
    meeting: Meeting
    members: tuple[int, ...]
    table: Int64Array
    is_whole: bool
    unresolved: str | None = None

    @property
    def complete(self) -> BoolArray:
        """Which instances no rank is missing from."""
        present: BoolArray = np.asarray((self.table >= 0).all(axis=1))
        return present & self.is_whole


class Clocks:
    """How the members' clocks relate while series are built: ``lines`` put each report's times on the common one."""

    def __init__(self, report_of: Sequence[int], lines: Sequence[ClockLine], component_of: Sequence[int]) -> None:
        self.report_of = report_of
        self._lines = lines
        self._component_of = component_of

    def is_one(self, member: int, other: int) -> bool:
        """Whether both members' times can be compared to some 20 us."""
        return self._component_of[self.report_of[member]] == self._component_of[self.report_of[other]]

    def moved(self, member: int, times_ns: Int64Array) -> Int64Array:
        """The member's times on the common clock."""
        return self._lines[self.report_of[member]].moved(times_ns)


class Pairing(msgspec.Struct, frozen=True):
    """What series are built from."""

    found: JobOperations
    communicators: Sequence[Communicator]
    missing_count: int | None
    """How many ranks of the job are not given, null where nothing tells."""
    is_contested: bool
    """Whether several members say that they are the same rank."""
    clocks: Clocks

    def ends_ns(self, lane: Lane) -> Int64Array:
        """The ends of a lane's operations, on the common clock as far as it is known."""
        return self.clocks.moved(lane.member, self.found.operations.end_ns[lane.rows])


def all_series(pairing: Pairing) -> list[Series]:
    """Every operation in exactly one series."""
    found = []
    for key, lanes in _with_nameless(pairing, list(_lanes(pairing.found))):
        if key.communicator == NONE:
            found += _by_agreement(pairing, key, lanes)
        else:
            found.append(_on_communicator(pairing, key, lanes))
    return found


class _Key(msgspec.Struct, frozen=True):
    """What the operations of a series share; ``peers`` are the two ranks of messages between two."""

    kind: int
    backend: int
    communicator: int
    peers: tuple[int, int]


_Keyed = tuple[_Key, list[Lane]]


def _with_nameless(pairing: Pairing, keyed: Sequence[_Keyed]) -> list[_Keyed]:
    """The lanes of a communicator that lacks ranks among those that name none, where these may be the lacking ones.

    Payloads may be recorded of some ranks only: then neither part is all that take part.
    """
    nameless = {(key.kind, key.backend): lanes for key, lanes in keyed if _names_nothing(key)}
    members = {place: {lane.member for lane in lanes} for place, lanes in nameless.items()}
    kept = []
    for key, lanes in keyed:
        place = (key.kind, key.backend)
        if _may_lack(pairing, key, lanes, members.get(place, set())):
            nameless[place].extend(lanes)
        else:
            kept.append((key, lanes))
    return kept


def _names_nothing(key: _Key) -> bool:
    return key.communicator == NONE and key.peers[0] == NONE


def _may_lack(pairing: Pairing, key: _Key, lanes: Sequence[Lane], others: set[int]) -> bool:
    """Whether operations of other members may be of the communicator, without naming it; their ends have to tell."""
    is_told_by_ends = key.kind == SEND_RECV or pairing.found.kinds.meeting(key.kind) is Meeting.SYMMETRIC
    if key.communicator == NONE or key.peers[0] >= 0 or not is_told_by_ends:
        return False
    size = pairing.communicators[key.communicator].size
    members = {lane.member for lane in lanes}
    return (size is None or len(members) < size) and bool(others - members)


def _lanes(found: JobOperations) -> Iterator[tuple[_Key, list[Lane]]]:
    """The operations by what a series shares and by member; without a communicator by stream as well."""
    operations = found.operations
    if not len(operations):
        return
    own = operations.own_rank
    pair = (operations.kind == SEND_RECV) & (operations.peer >= 0) & (own >= 0)
    low = np.where(pair, np.minimum(own, operations.peer), np.where(operations.peer == SEVERAL, SEVERAL, NONE))
    high = np.where(pair, np.maximum(own, operations.peer), NONE)
    keys = codes_of(operations.kind, operations.backend, operations.communicator, low, high)
    streams = np.where(operations.communicator == NONE, operations.stream, 0)
    lanes = codes_of(keys, operations.member, streams)
    order = np.argsort(lanes, kind="stable")
    bounds = np.flatnonzero(np.concatenate([[True], np.diff(lanes[order]) > 0, [True]]))
    groups: dict[int, list[Lane]] = {}
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        rows = order[begin:end]
        groups.setdefault(int(keys[rows[0]]), []).append(Lane(int(operations.member[rows[0]]), rows))
    for lanes_of_key in groups.values():
        row = lanes_of_key[0].rows[0]
        peers = (int(low[row]), int(high[row]))
        kind, backend, communicator = operations.kind[row], operations.backend[row], operations.communicator[row]
        yield _Key(int(kind), int(backend), int(communicator), peers), lanes_of_key


def _on_communicator(pairing: Pairing, key: _Key, lanes: list[Lane]) -> Series:
    communicator = pairing.communicators[key.communicator]
    meeting, unresolved = _meeting(pairing, key, lanes)
    size = 2 if key.peers[0] >= 0 else communicator.size
    members = tuple(lane.member for lane in lanes)
    is_whole, why = _is_whole(pairing, members, size)
    return Series(
        kind=key.kind,
        communicator=key.communicator,
        meeting=meeting,
        members=members,
        table=_table(pairing, key, lanes),
        is_whole=is_whole,
        unresolved=unresolved or why,
    )


def _is_whole(pairing: Pairing, members: tuple[int, ...], size: int | None) -> tuple[bool, str | None]:
    """Whether these members are all that take part, and if not, why."""
    if size is not None:
        missing = size - len(members)
        if pairing.missing_count == 0 and missing:
            return False, f"{missing} of its {size} ranks recorded nothing that names it"
        verb = "is" if missing == 1 else "are"
        return missing == 0, None if missing == 0 else f"{missing} of its {size} ranks {verb} not given"
    if pairing.is_contested:
        return False, "several reports say that they are the same rank, and may be of several runs"
    if pairing.missing_count:
        return False, "nothing tells how many ranks it has, and ranks of the job are not given"
    if len(members) == 1:
        return False, "no other rank of it is given"
    return True, None


def _table(pairing: Pairing, key: _Key, lanes: list[Lane]) -> Int64Array:
    """The lanes by instance: by number where one is known, else after the shifts at which ends agree."""
    lists = [lane.rows for lane in lanes]
    numbers = [pairing.found.operations.sequence[rows] for rows in lists]
    if all((own != ABSENT).all() and len(np.unique(own)) == len(own) for own in numbers):
        return placed_by_number(lists, numbers)
    made_by = pairing.communicators[key.communicator] if key.communicator != NONE else None
    if made_by is not None and made_by.is_made_in_capture and all(lane.member in made_by.rank_of for lane in lanes):
        return placed(lists, [0] * len(lists))
    reference = max(lanes, key=lambda lane: len(lane.rows))
    return placed(lists, [_shift(pairing, reference, lane) for lane in lanes])


def _shift(pairing: Pairing, reference: Lane, lane: Lane) -> int:
    if lane is reference:
        return 0
    one_clock = pairing.clocks.is_one(reference.member, lane.member)
    return align(pairing.ends_ns(reference), pairing.ends_ns(lane), one_clock=one_clock).shift


def _meeting(pairing: Pairing, key: _Key, lanes: list[Lane]) -> tuple[Meeting, str | None]:
    """Who needs whom in this series, or why that is not known."""
    if key.kind != SEND_RECV:
        return _meeting_of_kind(pairing, key, lanes)
    operations = pairing.found.operations
    rows = np.concatenate([lane.rows for lane in lanes])
    if key.peers[0] >= 0:
        return Meeting.SYMMETRIC, None
    sizes = _rank_counts(pairing, key, lanes)
    exchanges_with_all = operations.peer_count[rows] == sizes[0] - 1
    # where peers are not told: as many messages each way as there are ranks, or other ranks
    untold = operations.peer_count[rows] == ABSENT
    as_many = untold & np.isin(
        operations.message_count[rows], [2 * count for size in sizes for count in (size, size - 1)]
    )
    equally_often = len({len(lane.rows) for lane in lanes}) == 1
    if sizes[0] == _TWO or exchanges_with_all.all() or ((exchanges_with_all | as_many).all() and equally_often):
        return Meeting.SYMMETRIC, None
    return Meeting.UNKNOWN, "which rank sends to which is not recorded"


def _rank_counts(pairing: Pairing, key: _Key, lanes: list[Lane]) -> tuple[int, ...]:
    """How many ranks a message may be for: those of the communicator, where none is known all that are given.

    Or then those whose operations end together, if they are more than a pair: one rank may pass on to a neighbour as
    many messages as there are ranks in a pair.
    """
    member_count = len({lane.member for lane in lanes})
    if key.communicator != NONE:
        return (pairing.communicators[key.communicator].size or member_count,)
    given = len(pairing.clocks.report_of)
    return (given, member_count) if member_count > _TWO else (given,)


def _meeting_of_kind(pairing: Pairing, key: _Key, lanes: list[Lane]) -> tuple[Meeting, str | None]:
    meeting = pairing.found.kinds.meeting(key.kind)
    if meeting is Meeting.UNKNOWN:
        return meeting, "what it does is not known"
    if meeting is Meeting.SYMMETRIC:
        return meeting, None
    roots = pairing.found.operations.root[np.concatenate([lane.rows for lane in lanes])]
    if (roots == ABSENT).any():
        return meeting, "its root is not recorded"
    known = pairing.communicators[key.communicator].rank_of if key.communicator != NONE else {}
    if not all(lane.member in known for lane in lanes):
        return meeting, "which rank its root is, is told only where the capture holds the making of the communicator"
    if not all(pairing.clocks.is_one(lanes[0].member, lane.member) for lane in lanes):
        return meeting, "its ranks have no common clock"
    return meeting, None


def _by_agreement(pairing: Pairing, key: _Key, lanes: list[Lane]) -> list[Series]:
    """The series of lanes of which no communicator is known: those belong together whose ends agree.

    Where some of them name one of as many ranks, the others are of it as well.
    """
    left = sorted(lanes, key=lambda lane: -len(lane.rows))
    found = []
    while left:
        chosen = _agreeing(pairing, left)
        group = [lane for lane, _ in chosen]
        members = tuple(lane.member for lane in group)
        own_key = replace(key, communicator=_communicator_of(pairing, group))
        meeting, unresolved = _meeting(pairing, own_key, group)
        is_whole, why = _is_whole_by_agreement(pairing, own_key, members)
        table = placed([lane.rows for lane in group], [shift for _, shift in chosen])
        found.append(Series(key.kind, own_key.communicator, meeting, members, table, is_whole, unresolved or why))
        left = [lane for lane in left if all(lane is not one for one in group)]
    return found


def _agreeing(pairing: Pairing, left: Sequence[Lane]) -> list[tuple[Lane, int]]:
    """The first lane and one of each other member whose ends agree best with its own, with their shifts, by member."""
    reference = left[0]
    chosen = {reference.member: (reference, 0)}
    apart_ns = {reference.member: -1.0}
    for lane in left[1:]:
        if lane.member == reference.member:
            continue
        one_clock = pairing.clocks.is_one(reference.member, lane.member)
        fit = align(pairing.ends_ns(reference), pairing.ends_ns(lane), one_clock=one_clock)
        if fit.apart_ns <= AGREEMENT_NS and fit.apart_ns < apart_ns.get(lane.member, np.inf):
            chosen[lane.member], apart_ns[lane.member] = (lane, fit.shift), fit.apart_ns
    return [chosen[member] for member in sorted(chosen)]


def _communicator_of(pairing: Pairing, group: Sequence[Lane]) -> int:
    """The one communicator that lanes of the group name, ``NONE`` where there is none, or it is too small for all."""
    names = {int(pairing.found.operations.communicator[lane.rows[0]]) for lane in group} - {NONE}
    if len(names) != 1:
        return NONE
    (name,) = names
    size = pairing.communicators[name].size
    return name if size is None or len(group) <= size else NONE


def _is_whole_by_agreement(pairing: Pairing, key: _Key, members: tuple[int, ...]) -> tuple[bool, str | None]:
    size = None if key.communicator == NONE else pairing.communicators[key.communicator].size
    if size is None and len(members) == 1 and len(pairing.clocks.report_of) > 1:
        return False, "no other rank's operations end together with its own"
    return _is_whole(pairing, members, size)
