"""The operations of all ranks: a row for each communication kernel, with all that its calls tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from nsysan.attribution.collectives.calls import Calls, CallsOfReport
from nsysan.attribution.collectives.communicators import Communicators
from nsysan.attribution.collectives.kinds import KINDS, SEND_RECV, UNKNOWN, KindTable
from nsysan.attribution.collectives.launching import calls_of_kernels
from nsysan.attribution.collectives.members import Member
from nsysan.attribution.host import Host
from nsysan.attribution.kernel_class import classify
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.kernels import Collective
from nsysan.model.tables import ABSENT, Table
from nsysan.timeline.ordering import order_of

NONE = -1
"""The communicator, peer or backend that is not known."""
SEVERAL = -2
"""The peer of an operation that has several."""


class Operations(Table, frozen=True):
    """A communication kernel of one rank, on its report's clock, by member and begin.

    ``kind`` is a number of a ``KindTable``, ``backend`` and ``dtype`` are places in lists of names, ``communicator`` is
    one in the job's communicators, ``own_rank`` the member's number in it. ``size_bytes`` is S, the whole array as far
    as this rank tells it; of messages what it sends, or receives where it sends nothing. ``received_bytes`` is what
    comes in by messages. ``peer`` is the other rank, by its number in the communicator, of messages with one;
    ``peer_count`` with how many others it has any, ABSENT where that is not told. ``root`` counts likewise.
    """

    member: Int64Array
    start_ns: Int64Array
    end_ns: Int64Array
    stream: Int64Array
    kind: Int64Array
    backend: Int64Array
    communicator: Int64Array
    own_rank: Int64Array
    size_bytes: Int64Array
    received_bytes: Int64Array
    dtype: Int64Array
    root: Int64Array
    peer: Int64Array
    peer_count: Int64Array
    message_count: Int64Array
    sequence: Int64Array

    @property
    def durations_ns(self) -> Int64Array:
        """How long each took on its rank."""
        return self.end_ns - self.start_ns


class JobOperations(msgspec.Struct, frozen=True):
    """The operations of a job and what their columns refer to."""

    operations: Operations
    kinds: KindTable
    backends: tuple[str, ...]
    dtypes: tuple[str, ...]


class _Names:
    """Names by number, in the order they are met."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, name: str | None) -> int:
        return NONE if not name else self._places.setdefault(name, len(self._places))

    def all(self) -> tuple[str, ...]:
        return tuple(self._places)


def operations_of(
    hosts: Sequence[Host], members: Sequence[Member], calls: Sequence[CallsOfReport], communicators: Communicators
) -> JobOperations:
    """The operations of every member, in order of member and begin."""
    kinds, backends, dtypes = KindTable(), _Names(), _Names()
    builder = _Builder(hosts, calls, communicators, kinds, backends, dtypes)
    pieces = [builder.of_report(report, places) for report, places in _members_by_report(members).items()]
    return JobOperations(Operations.concatenate(pieces), kinds, backends.all(), dtypes.all())


class _Builder(msgspec.Struct, frozen=True):
    hosts: Sequence[Host]
    calls: Sequence[CallsOfReport]
    communicators: Communicators
    kinds: KindTable
    backends: _Names
    dtypes: _Names

    def of_report(self, report: int, members: Mapping[int, Member]) -> Operations:
        """The operations of a report's members, by member and begin."""
        host, calls = self.hosts[report], self.calls[report].calls
        kernels = host.trace.kernels
        assert kernels is not None, "its members have kernels"
        rows = np.concatenate([member.kernel_rows for member in members.values()])
        member = np.repeat(list(members), [len(one.kernel_rows) for one in members.values()])
        order = order_of(member, kernels.start_ns[rows])
        rows, member = rows[order], member[order]
        named_kind, backend = self._by_name(host, kernels.name_id[rows])
        found = calls_of_kernels(calls, host.calls, host.launches.rows["kernels"][rows], named_kind)
        told = _Told(calls, found.first, found.count)
        shared = found.is_shared.astype(np.bool_)
        kind = self.kinds.of_sets(told.kind_masks())
        kind = np.where(shared | (kind == UNKNOWN), named_kind, kind)
        communicator = self.communicators.of_calls(report, told.common(calls.communicator, NONE))
        sizes = _whole_sizes(calls, self.communicators.sizes[self.communicators.of_calls(report, calls.communicator)])
        in_bytes, size = told.message_bytes()
        size = np.where(kind == SEND_RECV, size, told.sum(sizes))
        single = found.count == 1
        own_rank = self.communicators.ranks_in(communicator, member)
        peer, peer_count = told.peers(own_rank)
        absent = np.full(len(rows), ABSENT)
        return Operations(
            member=member,
            start_ns=kernels.start_ns[rows],
            end_ns=kernels.end_ns[rows],
            stream=kernels.stream_id[rows].astype(np.int64),
            kind=kind,
            backend=backend,
            communicator=communicator,
            own_rank=own_rank,
            size_bytes=np.where(shared | (found.count == 0), absent, size),
            received_bytes=np.where(shared | (kind != SEND_RECV), absent, in_bytes),
            dtype=self._dtypes(self.calls[report].dtypes, told.common(calls.dtype, NONE)),
            root=np.where(single, told.common(calls.root, ABSENT), absent),
            peer=np.where(shared | (kind != SEND_RECV), NONE, peer),
            peer_count=np.where(shared | (kind != SEND_RECV), absent, peer_count),
            message_count=np.where(kind == SEND_RECV, found.count, 0),
            sequence=np.where(single & ~shared, told.common(calls.sequence, ABSENT), absent),
        )

    def _by_name(self, host: Host, name_ids: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Kind and backend of each kernel as its name tells."""
        ids, name_of = coded(name_ids)
        found = [classify(host.trace.text(name_id)) for name_id in ids.tolist()]
        kinds = np.array([KINDS.index(one.collective or Collective.UNKNOWN) for one in found], np.int64)
        backends = np.array([self.backends.place(one.backend) for one in found], np.int64)
        return kinds[name_of], backends[name_of]

    def _dtypes(self, names: Sequence[str], places: Int64Array) -> Int64Array:
        """The types that a report's calls name by a place in their own list, by their place in the job's."""
        own = np.array([*(self.dtypes.place(name) for name in names), NONE], np.int64)
        found: Int64Array = own[places]
        return found


def _members_by_report(members: Sequence[Member]) -> dict[int, dict[int, Member]]:
    """The members that communicate, by their place, of each report."""
    found: dict[int, dict[int, Member]] = {}
    for place, member in enumerate(members):
        if len(member.kernel_rows):
            found.setdefault(member.report, {})[place] = member
    return found


def _whole_sizes(calls: Calls, rank_counts: Int64Array) -> Int64Array:
    """S of each call: where it tells one rank's part, times the communicator's size."""
    known = (calls.size_bytes != ABSENT) & ((calls.is_part == 0) | (rank_counts != ABSENT))
    return np.where(known, calls.size_bytes * np.where(calls.is_part == 1, rank_counts, 1), ABSENT)


class _Told(msgspec.Struct, frozen=True, eq=False):
    """What the calls of each kernel tell together: those from ``first`` on, ``count`` of them."""

    calls: Calls
    first: Int64Array
    count: Int64Array

    def kind_masks(self) -> Int64Array:
        """The kinds as bits."""
        kernel, call = self._pairs()
        masks = np.zeros(len(self.first), np.int64)
        np.bitwise_or.at(masks, kernel, np.int64(1) << self.calls.kind[call])
        return masks

    def common(self, column: Int64Array, otherwise: int) -> Int64Array:
        """The value that all calls of a kernel have, ``otherwise`` where they differ or there is none."""
        kernel, call = self._pairs()
        least, most = np.full(len(self.first), np.iinfo(np.int64).max), np.full(len(self.first), ABSENT)
        np.minimum.at(least, kernel, column[call])
        np.maximum.at(most, kernel, column[call])
        return np.where((least == most) & (self.count > 0), least, otherwise)

    def sum(self, column: Int64Array) -> Int64Array:
        """The sum over the calls of a kernel, ABSENT where one of them is or there is none."""
        kernel, call = self._pairs()
        values = column[call]
        unknown = np.bincount(kernel[values == ABSENT], minlength=len(self.first)) > 0
        total = np.zeros(len(self.first), np.int64)
        np.add.at(total, kernel, np.where(values == ABSENT, 0, values))
        return np.where(unknown | (self.count == 0), ABSENT, total)

    def message_bytes(self) -> tuple[Int64Array, Int64Array]:
        """What a kernel receives, and what it sends, or receives where it sends nothing; ABSENT where untold."""
        sent = self.calls.is_sent == 1
        known = self.sum(self.calls.size_bytes) != ABSENT
        sent_bytes, received_bytes = self._sum_where(sent), self._sum_where(~sent)
        size = np.where(sent_bytes > 0, sent_bytes, received_bytes)
        return np.where(known, received_bytes, ABSENT), np.where(known, size, ABSENT)

    def peers(self, own_rank: Int64Array) -> tuple[Int64Array, Int64Array]:
        """The other rank of each kernel's messages, ``SEVERAL`` or ``NONE``, and how many there are, ABSENT if untold.

        What a rank sends to itself is no exchange.
        """
        kernel, call = self._pairs()
        peer = self.calls.peer[call]
        untold = np.bincount(kernel[peer == ABSENT], minlength=len(self.first)) > 0
        outer = (peer != ABSENT) & (peer != own_rank[kernel])
        pairs = np.unique(np.stack([kernel[outer], peer[outer]], axis=1), axis=0)
        counts = np.bincount(pairs[:, 0], minlength=len(self.first))
        found = np.full(len(self.first), NONE)
        found[pairs[:, 0]] = pairs[:, 1]
        found = np.where(counts > 1, SEVERAL, found)
        return np.where(untold, NONE, found), np.where(untold, ABSENT, counts)

    def _sum_where(self, wanted: np.ndarray) -> Int64Array:
        kernel, call = self._pairs()
        total = np.zeros(len(self.first), np.int64)
        values = self.calls.size_bytes[call]
        np.add.at(total, kernel, np.where(wanted[call] & (values != ABSENT), values, 0))
        return total

    def _pairs(self) -> tuple[Int64Array, Int64Array]:
        """Every kernel with each of its calls."""
        kernel = np.repeat(np.arange(len(self.first)), self.count)
        within = np.arange(len(kernel)) - np.repeat(np.cumsum(self.count) - self.count, self.count)
        return kernel, self.first[kernel] + within
