"""Exposed communication of a device by what it is: waiting for others, transfer, or one of both, unknown which."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.collectives.exchanges import hands_out
from nsysan.attribution.collectives.exposure import Exposure
from nsysan.attribution.collectives.job_collectives import JobCollectives
from nsysan.attribution.collectives.kinds import SEND_RECV
from nsysan.attribution.collectives.measured import Measured
from nsysan.attribution.collectives.pipelines import across_stages, stage_of_members
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.tables import ABSENT
from nsysan.timeline.intervals import Intervals, intersection, union


class ExposedCommunication(msgspec.Struct, frozen=True):
    """When communication of one device is exposed, on its report's clock.

    ``bubble`` is what of ``wait`` is for other stages of a pipeline. ``messages`` is that of messages between pairs of
    ranks whose waits are not known. What several of them cover is ``transfer`` first, then ``wait``. ``exchange`` is
    that part of ``transfer`` in which ranks send to all others.
    """

    wait: Intervals
    bubble: Intervals
    transfer: Intervals
    exchange: Intervals
    messages: Intervals
    unresolved: Intervals


class ExposedByMember:
    """The exposed communication of the members of a job."""

    def __init__(self, found: JobCollectives, exposure: Exposure) -> None:
        self._found, self._exposure = found, exposure
        self._waits_ns = np.full(len(found.operations), ABSENT)
        self._is_message = np.zeros(len(found.operations), np.bool_)
        self._is_exchange = np.zeros(len(found.operations), np.bool_)
        self._is_across_stages = np.zeros(len(found.operations), np.bool_)
        for one in found.measured:
            if one.waits is not None:
                self._waits_ns[one.complete_table] = one.waits.wait_ns + self._delayed_ns(one)
            runs = one.series.table[one.series.table >= 0]
            self._is_message[runs] = one.series.kind == SEND_RECV
            self._is_exchange[runs] = hands_out(one.series, found.operations)
        for one in across_stages(found.measured, stage_of_members(found.pipelines)):
            self._is_across_stages[one.complete_table] = True

    def _delayed_ns(self, one: Measured) -> Int64Array:
        """By instance and rank how much more of the transfer is exposed than on the rank that hides most of it.

        A rank that came early has nothing left to hide it under: it would hide as much if the others were not late.
        """
        if one.waits is None:
            return np.zeros_like(one.complete_table)
        exposed_ns = np.zeros_like(one.complete_table)
        for column, member in enumerate(one.series.members):
            if member in self._exposure.exposed:
                rows = one.complete_table[:, column]
                begun_ns = self._found.operations.start_ns[rows] + one.waits.wait_ns[:, column]
                end_ns = self._found.operations.end_ns[rows]
                exposed_ns[:, column] = self._exposure.exposed_ns(member, begun_ns, end_ns)
        delayed_ns: Int64Array = exposed_ns - exposed_ns.min(axis=1, keepdims=True)
        return delayed_ns

    def of(self, member: int) -> ExposedCommunication:
        """That of one member."""
        operations, own = self._found.operations, self._found.rows_of(member)
        exposed = self._exposure.exposed[member]
        start_ns, end_ns, wait_ns = operations.start_ns[own], operations.end_ns[own], self._waits_ns[own]
        known, message = wait_ns != ABSENT, self._is_message[own]
        begun_ns = start_ns + np.where(known, wait_ns, 0)
        transfer = _exposed(exposed, begun_ns, end_ns, known)
        wait = _exposed(exposed, start_ns, begun_ns, known).without(transfer)
        bubble = _exposed(exposed, start_ns, begun_ns, known & self._is_across_stages[own]).without(transfer)
        exchange = _exposed(exposed, begun_ns, end_ns, known & self._is_exchange[own])
        messages = _exposed(exposed, start_ns, end_ns, ~known & message).without(transfer).without(wait)
        unresolved = exposed.without(transfer).without(wait).without(messages)
        return ExposedCommunication(wait, bubble, transfer, exchange, messages, unresolved)


def _exposed(exposed: Intervals, start_ns: Int64Array, end_ns: Int64Array, chosen: BoolArray) -> Intervals:
    return intersection(exposed, union(start_ns[chosen], end_ns[chosen]))
