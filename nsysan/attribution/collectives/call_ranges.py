"""What ranges that are calls of NCCL share, whoever made the ranges: how calls are named, and what is attached."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.collectives.kinds import KINDS
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.kernels import COLLECTIVE_OF_CALL
from nsysan.model.tables import ABSENT, NcclPayloads
from nsysan.timeline.ordering import order_of

CALL_KINDS = {name: KINDS.index(kind) for name, kind in COLLECTIVE_OF_CALL.items()}
"""The kind of each call of NCCL, by its name in small letters and without ``nccl``."""


class CallRanges(msgspec.Struct, frozen=True, eq=False):
    """Ranges that are calls of NCCL, as rows of the host's ranges: the kind of each and the row that launches it."""

    rows: Int64Array
    kind: Int64Array
    launched_by: Int64Array


def payloads_of(payloads: NcclPayloads | None, threads: Int64Array, starts_ns: Int64Array) -> NcclPayloads:
    """The payload of each range, all of it ABSENT where there is none."""
    nothing = np.full(len(threads), ABSENT)
    if payloads is None or not len(payloads):
        return NcclPayloads(*[nothing] * len(NcclPayloads.__struct_fields__))
    values, thread_of = coded(np.concatenate([payloads.global_tid, threads]))
    order = order_of(thread_of[: len(payloads)], payloads.start_ns)
    held_threads, held_ns = thread_of[: len(payloads)][order], payloads.start_ns[order]
    bounds = np.searchsorted(held_threads, np.arange(len(values) + 1))
    place = np.full(len(threads), -1)
    for thread in range(len(values)):
        asked = np.flatnonzero(thread_of[len(payloads) :] == thread)
        own_ns = held_ns[bounds[thread] : bounds[thread + 1]]
        if len(own_ns):
            near = np.searchsorted(own_ns, starts_ns[asked]).clip(max=len(own_ns) - 1)
            place[asked] = np.where(own_ns[near] == starts_ns[asked], order[bounds[thread] + near], -1)
    columns = {name: np.where(place >= 0, column[place], ABSENT) for name, column in payloads.columns().items()}
    return NcclPayloads(**columns)
