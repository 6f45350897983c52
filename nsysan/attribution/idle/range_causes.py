"""Which cause the name of an NVTX range gives the time that its thread spends in it."""

from __future__ import annotations

import re

import numpy as np

from nsysan.attribution.grouping import rows_by_key
from nsysan.attribution.idle.codes import code_of
from nsysan.attribution.ranges.names import NameGroups
from nsysan.model.arrays import Int64Array
from nsysan.model.idle import Cause
from nsysan.timeline.intervals import union
from nsysan.timeline.labelling import NOBODY

# Communication libraries and activation checkpointing launch GPU work; a region that was compiled runs it.
_NO_CAUSE = re.compile(
    r"nccl|activation.?checkpoint|checkpoint.?(function|wrap|forward)|checkpointed|recompute|compiled|xlamodule",
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


def causes_of_groups(groups: NameGroups) -> Int64Array:
    """The cause code of each group of ranges, ``NOBODY`` where its name stands for none."""
    causes = [cause_of_range(name) for name in groups.names]
    return np.array([NOBODY if cause is None else code_of(cause) for cause in causes], np.int8)


def without_workplaces(
    codes: Int64Array, groups: Int64Array, spans: tuple[Int64Array, Int64Array], launch_count: int
) -> Int64Array:
    """The cause codes of ranges of one thread; those of a group that holds over half of its launches name nothing.

    That is where the thread works. ``spans`` are the places of the first launch in each range and after its last.
    """
    codes = codes.copy()
    first, last = spans
    for _, of_group in rows_by_key(groups, first).groups():
        if 2 * union(first[of_group], last[of_group]).total_ns > launch_count:
            codes[of_group] = NOBODY
    return codes
