"""What logs of NCCL tell of a trace's calls: sizes, types and communicators, where the trace has none.

A log names the thread of each call, so the calls of one thread are a stretch of what that thread logged. Where the
kinds of calls leave several stretches possible, what differs between these stays unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.attribution.collectives.calls import Calls, CallsOfReport, CommunicatorKey, Introduction
from nsysan.attribution.collectives.calls_of_report import launching_calls
from nsysan.attribution.collectives.kinds import KINDS, OF_THE_WHOLE, SEND_RECV
from nsysan.attribution.host import Host
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.nccl_log import LoggedCall, NcclLog, ThreadCalls
from nsysan.model.tables import ABSENT
from nsysan.model.trace import PROCESS_BITS, process_of

_THREAD_MASK = 0xFFFFFF
_UNKNOWN = -1
_LARGEST_BYTES = 1 << 62
_MOST_COMPARED = 50_000_000
"""So many calls are compared for one thread; a trace that needs more repeats itself too often to be placed."""

_Process = tuple[str, int]


class LogUse(msgspec.Struct, frozen=True):
    """What a log gave: how many processes of the traces it is of, and how many of their calls it told more of."""

    process_count: int
    call_count: int


class LoggedCalls(msgspec.Struct, frozen=True):
    """The calls of every report with what logs told, and what each log gave."""

    calls: tuple[CallsOfReport, ...]
    uses: tuple[LogUse, ...]


def with_logs(found: Sequence[CallsOfReport], hosts: Sequence[Host], logs: Sequence[NcclLog]) -> LoggedCalls:
    """The calls of every report with what the logs tell besides."""
    told = [_Logged(log) for log in logs]
    claims = [[_processes(host, log) for log in told] for host in hosts]
    result, uses = list(found), []
    for place, log in enumerate(told):
        # what two reports may both be of tells of neither
        once = Counter(claim for of_report in claims for claim in of_report[place])
        process_count = call_count = 0
        for report, host in enumerate(hosts):
            own = {pid: name for name, pid in claims[report][place] if once[name, pid] == 1}
            if own:
                result[report], filled_count = _Filling(host, report, log, own).fill(result[report])
                process_count, call_count = process_count + len(own), call_count + filled_count
        uses.append(LogUse(process_count, call_count))
    return LoggedCalls(tuple(_without_lone_names(found, result)), tuple(uses))


def _processes(host: Host, log: _Logged) -> set[_Process]:
    """The processes of the log that may be the trace's: of the same number, and on a host of the same name."""
    kernels, own_host = host.trace.kernels, host.trace.identity.host
    pids = set() if kernels is None else {process_of(pid) for pid in distinct(kernels.global_pid).tolist()}
    return {(name, pid) for name, pid in log.processes if pid in pids and _may_be_one(own_host, name)}


def _may_be_one(own: str | None, logged: str) -> bool:
    return own is None or not logged or own.partition(".")[0] == logged.partition(".")[0]


def _without_lone_names(before: Sequence[CallsOfReport], after: list[CallsOfReport]) -> list[CallsOfReport]:
    """Communicators that a log names count only if every report with calls names its own: else ranks look missing."""
    named = [not len(one.calls) or bool((one.calls.communicator != _UNKNOWN).any()) for one in after]
    if all(named):
        return after
    kept = []
    for old, new in zip(before, after, strict=True):
        same = len(old.calls) == len(new.calls)
        communicator = old.calls.communicator if same else np.full(len(new.calls), _UNKNOWN)
        sequence = old.calls.sequence if same else np.full(len(new.calls), ABSENT)
        kept.append(replace(new, calls=replace(new.calls, communicator=communicator, sequence=sequence)))
    return kept


class _Logged:
    """A log's calls as columns, one value a different call."""

    def __init__(self, log: NcclLog) -> None:
        self.log = log
        self.threads = {(one.host, one.pid, one.tid): one for one in log.threads}
        members = [member.origin for communicator in log.communicators for member in communicator.members]
        self.processes: set[_Process] = {(one.host, one.pid) for one in log.threads}
        self.processes |= {(origin.host, origin.pid) for origin in members}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The communicators that calls are on."""
        return tuple(dict.fromkeys(call.communicator for call in self.log.calls if call.communicator is not None))

    @cached_property
    def dtypes(self) -> tuple[str, ...]:
        """The types that calls have."""
        return tuple(dict.fromkeys(call.dtype for call in self.log.calls if call.dtype is not None))

    @cached_property
    def columns(self) -> dict[str, Int64Array]:
        """What each call tells, by the columns of ``Calls``; sizes are those of the whole array."""
        calls = self.log.calls
        names = {name: place for place, name in enumerate(self.names)}
        dtypes = {name: place for place, name in enumerate(self.dtypes)}
        told = {
            "size_bytes": [_whole_bytes(call) for call in calls],
            "communicator": [names.get(call.communicator or "", _UNKNOWN) for call in calls],
            "dtype": [dtypes.get(call.dtype or "", _UNKNOWN) for call in calls],
            "root": [ABSENT if call.root is None else call.root for call in calls],
            "peer": [ABSENT if call.peer is None else call.peer for call in calls],
            "is_sent": [int(call.is_sent) for call in calls],
        }
        return {column: np.array(values, np.int64) for column, values in told.items()}

    @cached_property
    def symbols(self) -> np.ndarray:
        """The kind of each call as one byte."""
        return np.array([KINDS.index(call.kind) for call in self.log.calls], np.uint8)


def _whole_bytes(call: LoggedCall) -> int:
    if call.size_bytes is None:
        return ABSENT
    kind = KINDS.index(call.kind)
    whole = call.size_bytes if kind == SEND_RECV or kind in OF_THE_WHOLE else call.size_bytes * call.rank_count
    return whole if whole < _LARGEST_BYTES else ABSENT


class _Filling(msgspec.Struct, frozen=True, eq=False):
    """What one log tells of one report, whose processes it names ``own``, by number."""

    host: Host
    report: int
    log: _Logged
    own: dict[int, str]

    def fill(self, found: CallsOfReport) -> tuple[CallsOfReport, int]:
        """The calls with what they lack, and the ranks that processes have in communicators; and of how many calls."""
        calls = found.calls if len(found.calls) else launching_calls(self.host)
        columns = {name: column.copy() for name, column in calls.columns().items()}
        filled_count = 0
        for global_tid in distinct(calls.global_tid).tolist():
            rows = np.flatnonzero(calls.global_tid == global_tid)
            thread = self._logged_thread(global_tid)
            if thread is not None and self._fill_thread(columns, rows, thread, found):
                filled_count += len(rows)
        introductions = tuple(dict.fromkeys((*found.introductions, *self._introductions())))
        if not filled_count:
            return replace(found, introductions=introductions), 0
        complete = CallsOfReport(
            calls=Calls(**columns),
            communicators=(*found.communicators, *map(CommunicatorKey, self.log.names)),
            introductions=introductions,
            dtypes=(*found.dtypes, *self.log.dtypes),
        )
        return complete, filled_count

    def _logged_thread(self, global_tid: int) -> ThreadCalls | None:
        pid = process_of(global_tid)
        if pid is None or pid not in self.own:
            return None
        return self.log.threads.get((self.own[pid], pid, global_tid & _THREAD_MASK))

    def _fill_thread(
        self, columns: dict[str, Int64Array], rows: Int64Array, thread: ThreadCalls, found: CallsOfReport
    ) -> bool:
        """Whether the thread's calls were found in the log; then the columns have what it tells."""
        logged = thread.call.astype(np.int64)
        needle = columns["kind"][rows].astype(np.uint8).tobytes()
        begins = list(_places(self.log.symbols[logged].tobytes(), needle))
        if not begins:
            return False
        offsets = {"communicator": len(found.communicators), "dtype": len(found.dtypes)}
        for name, values in self.log.columns.items():
            unknown = _UNKNOWN if name in offsets else ABSENT
            told = _common(values[logged], begins, len(rows), unknown)
            told = np.where(told == unknown, unknown, told + offsets.get(name, 0))
            own = columns[name][rows]
            columns[name][rows] = np.where((own == unknown) if name != "is_sent" else (told != unknown), told, own)
            if name == "size_bytes":
                filled = (own == unknown) & (told != unknown)
                columns["is_part"][rows] = np.where(filled, 0, columns["is_part"][rows])
        if len(begins) == 1:
            self._number(columns, rows, logged, thread.op_count, begins[0])
        return True

    def _number(
        self, columns: dict[str, Int64Array], rows: Int64Array, logged: Int64Array, op_count: Int64Array, begin: int
    ) -> None:
        """Number the calls as NCCL does, but for those that share a number with others on their communicator."""
        communicator = self.log.columns["communicator"][logged]
        keys = np.stack([communicator, op_count], axis=1)
        _, inverse, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        single = (counts[inverse.reshape(-1)] == 1) & (communicator != _UNKNOWN)
        own = slice(begin, begin + len(rows))
        usable = single[own] & (columns["kind"][rows] != SEND_RECV) & (columns["sequence"][rows] == ABSENT)
        columns["sequence"][rows] = np.where(usable, op_count[own], columns["sequence"][rows])

    def _introductions(self) -> Iterator[Introduction]:
        kernels = self.host.trace.kernels
        assert kernels is not None, "its processes have kernels"
        by_pid = {process_of(global_pid): global_pid for global_pid in distinct(kernels.global_pid).tolist()}
        for communicator in self.log.log.communicators:
            for member in communicator.members if communicator.name is not None else ():
                if self.own.get(member.origin.pid) == member.origin.host:
                    yield Introduction(
                        report=self.report,
                        global_pid=by_pid[member.origin.pid] & PROCESS_BITS,
                        device_id=member.origin.device_id,
                        key=communicator.name or "",
                        rank=member.rank,
                        rank_count=communicator.size,
                        in_capture=False,
                    )


def _places(haystack: bytes, needle: bytes) -> Iterator[int]:
    """Where the needle lies in the haystack, overlapping places included; none if there are too many to compare."""
    found, place = [], haystack.find(needle)
    while place >= 0:
        found.append(place)
        if len(found) * len(needle) > _MOST_COMPARED:
            return
        place = haystack.find(needle, place + 1)
    yield from found


def _common(values: Int64Array, begins: Sequence[int], count: int, unknown: int) -> Int64Array:
    """What all stretches of so many values that begin at these places agree on, ``unknown`` where they differ."""
    first = values[begins[0] : begins[0] + count]
    agree = np.ones(count, np.bool_)
    for begin in begins[1:]:
        agree &= values[begin : begin + count] == first
    return np.where(agree, first, unknown)
