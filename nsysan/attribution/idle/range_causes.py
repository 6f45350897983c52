"""Which cause the name of an NVTX range gives the time that its thread spends in it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from nsysan.attribution.idle.codes import code_of
from nsysan.attribution.range_names import group_name
from nsysan.model.idle import Cause
from nsysan.model.tables import Int64Array, NvtxRanges
from nsysan.model.trace import Trace
from nsysan.timeline.labelling import NOBODY

# Communication libraries and activation checkpointing launch GPU work; a region that was compiled runs it.
_NO_CAUSE = re.compile(
    r"nccl|activation.?checkpoint|checkpoint.?(function|wrapp|forward)|checkpointed|recompute|compiled|xlamodule",
    re.IGNORECASE,
)
_CAUSES = tuple(
    (cause, re.compile(pattern, re.IGNORECASE))
    for cause, pattern in (
        (
            Cause.DATA_LOADING,
            r"data.?(load|iter|wait)|(load|get|next|fetch|wait).{0,6}(batch|data)|batch.?iter|prefetch|collate|tokeniz",
        ),
        (Cause.CHECKPOINT, r"checkpoint|ckpt|save.?(state|model|optimizer)"),
        (Cause.GARBAGE_COLLECTION, r"(?<![a-z])gc(?![a-z])|garbage"),
        (Cause.HOST_COMMUNICATION, r"gloo|(?<![a-z])mpi_|barrier|tcp_?store|rendezvous|(gather|broadcast)_object"),
        (Cause.MODULE_LOADING, r"(?<![a-z])(jit|nvrtc)(?![a-z])|compil(e|ation)|autotun"),
    )
)


def cause_of_range(name: str) -> Cause | None:
    """The cause that a range of this name stands for, None where it stands for none."""
    if _NO_CAUSE.search(name):
        return None
    return next((cause for cause, pattern in _CAUSES if pattern.search(name)), None)


def cause_codes(trace: Trace, ranges: NvtxRanges) -> dict[int, int]:
    """The cause code by name id, of those names of the ranges that stand for a cause."""
    found = ((name_id, cause_of_range(trace.text(name_id))) for name_id in np.unique(ranges.name_id).tolist())
    return {name_id: code_of(cause) for name_id, cause in found if cause is not None}


def causes_on_thread(
    ranges: NvtxRanges, ends_ns: Int64Array, causes: dict[int, int], launch_starts_ns: Int64Array, trace: Trace
) -> Int64Array:
    """The cause code of each range of one thread, ``NOBODY`` where its name says nothing.

    Ranges of one name (numbers in it apart) that hold over half of the thread's launches say nothing either: that is
    where the thread works. ``launch_starts_ns`` ascends.
    """
    codes = np.array([causes.get(name_id, NOBODY) for name_id in ranges.name_id.tolist()], np.int64)
    named = np.flatnonzero(codes != NOBODY)
    first = np.searchsorted(launch_starts_ns, ranges.start_ns[named])
    last = np.maximum(np.searchsorted(launch_starts_ns, ends_ns[named]), first)
    groups = np.array(_groups(trace.text(name_id) for name_id in ranges.name_id[named].tolist()), np.int64)
    for group in np.unique(groups).tolist():
        of_group = groups == group
        if 2 * _held(first[of_group], last[of_group], len(launch_starts_ns)) > len(launch_starts_ns):
            codes[named[of_group]] = NOBODY
    return codes


def _held(first: Int64Array, last: Int64Array, count: int) -> int:
    """How many of ``count`` launches lie in at least one of the spans."""
    changes = np.zeros(count + 1, np.int64)
    np.add.at(changes, first, 1)
    np.add.at(changes, last, -1)
    return int((np.cumsum(changes) > 0).sum())


def _groups(names: Iterable[str]) -> list[int]:
    numbers: dict[str, int] = {}
    return [numbers.setdefault(group_name(name), len(numbers)) for name in names]
