"""Calls of communication libraries on host threads: what each was asked to move, and which stretch launches it.

A call launches its kernel itself, unless it stands in a group: then the call that ends the group does.
"""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.tables import Table


class Calls(Table, frozen=True):
    """Calls of one report, in order of the stretches that launch them.

    ``span_start_ns`` to ``span_end_ns`` on ``global_tid`` is that stretch. ``communicator`` is a place in
    ``CallsOfReport.communicators``, -1 where it is not known. ``size_bytes`` times the communicator's size where
    ``is_part`` is the whole array. ``peer``, of a message, and ``root`` count within the communicator; ``is_sent`` is 1
    of what is sent. ``dtype`` is a place in ``CallsOfReport.dtypes``, -1 where the type is not known.
    """

    span_start_ns: Int64Array
    span_end_ns: Int64Array
    global_tid: Int64Array
    kind: Int64Array
    communicator: Int64Array
    size_bytes: Int64Array
    is_part: Int64Array
    root: Int64Array
    peer: Int64Array
    is_sent: Int64Array
    sequence: Int64Array
    dtype: Int64Array


class Introduction(msgspec.Struct, frozen=True):
    """A rank that a process learned when it made a communicator; ``in_capture`` says whether the capture saw it."""

    report: int
    global_pid: int
    device_id: int
    key: str
    rank: int
    rank_count: int
    in_capture: bool = True


class CommunicatorKey(msgspec.Struct, frozen=True):
    """What names a communicator over all reports; ``ranks`` of the job and ``size`` where they are told."""

    name: str
    ranks: tuple[int, ...] = ()
    size: int | None = None
    description: str = ""


class CallsOfReport(msgspec.Struct, frozen=True):
    """The calls of one report, what their columns refer to, and what its processes were told of communicators."""

    calls: Calls
    communicators: tuple[CommunicatorKey, ...]
    introductions: tuple[Introduction, ...]
    dtypes: tuple[str, ...] = ()


NO_CALLS = CallsOfReport(Calls(*[np.empty(0, np.int64)] * 12), (), ())
