"""Whether a trace was merged of several ranks: its GPU events then no longer tell whose they are."""

from __future__ import annotations

import numpy as np

from nsysan.ingest.torch.events import THREAD_COLUMN, Events
from nsysan.ingest.torch.rows import Rows
from nsysan.model.errors import InputError
from nsysan.model.trace import PID_SHIFT

_ONE_PROCESS_FRAC = 0.9
"""The profiler records its own process; an event here or there that names another is damage, no rank."""


def refuse_merged(events: Events, shown_name: str) -> None:
    """Raise InputError where several processes are called the host's, or share the calls or the ranges.

    Calls and ranges are looked at apart: some releases name a process by two numbers, one in each.
    """
    if len(events.labelled_pids) > 1 or _is_shared(events.calls) or _is_shared(events.ranges):
        raise merged(shown_name, "the events of several processes")


def merged(shown_name: str, holds: str) -> InputError:
    """The error to raise for a trace that holds what only several ranks can have."""
    return InputError(
        f"{shown_name} was merged of several ranks: it holds {holds}.",
        "Give the traces as the profiler wrote them, one file a rank; together they become one run.",
    )


def _is_shared(rows: Rows) -> bool:
    threads = rows.columns()[THREAD_COLUMN]
    _, counts = np.unique(threads >> PID_SHIFT, return_counts=True)
    stray_count = int(counts.sum() - counts.max(initial=0))
    return stray_count > max(1, (1 - _ONE_PROCESS_FRAC) * int(counts.sum()))
