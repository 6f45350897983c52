"""Which reports name the communicators of their operations where others do not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nsysan.attribution.collectives.job_collectives import JobCollectives
from nsysan.attribution.collectives.operations import NONE
from nsysan.model.run import Note
from nsysan.model.text import display_text, first_names
from nsysan.model.trace import Trace
from nsysan.model.units import counted

_NCCL = "nccl"


def naming_notes(traces: Sequence[Trace], found: JobCollectives) -> Iterator[Note]:
    """A note where NCCL's operations of some reports name a communicator and those of others none at all."""
    if len(traces) == 1:
        return
    operations = found.operations
    backends = np.array([*found.found.backends, ""])
    is_nccl = backends[operations.backend] == _NCCL
    report_of = np.array([member.report for member in found.members])[operations.member[is_nccl]]
    naming = set(report_of[operations.communicator[is_nccl] != NONE].tolist())
    nameless = sorted(set(report_of.tolist()) - naming)
    if naming and nameless:
        names = first_names([display_text(traces[report].name) for report in nameless])
        of = f"{len(nameless)} of {counted(len(naming) + len(nameless), 'report')}"
        yield Note(
            "communicators_of_some",
            f"Communicators are named in all but {of} ({names}): operations of these are paired by when they end, and "
            "messages between two not at all. nsysan record-help --question nccl-bytes says how to record them.",
        )
