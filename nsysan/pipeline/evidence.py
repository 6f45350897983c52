"""Evidence that belongs to one of the reports: what an export as JSON tells of the calls in another export."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from nsysan.model.arrays import BoolArray
from nsysan.model.evidence import Evidence
from nsysan.model.nsys_payloads import ExportedPayloads
from nsysan.model.run import Note
from nsysan.model.tables import NcclPayloads
from nsysan.model.text import display_text
from nsysan.model.trace import Trace
from nsysan.model.units import counted


def with_payloads(traces: Sequence[Trace], evidence: Evidence) -> tuple[list[Trace], list[Note]]:
    """The traces with the payloads of their NCCL calls, as far as JSON exports of the same reports tell them."""
    found = list(traces)
    notes: list[Note] = []
    if all(trace.nvtx_ranges is None for trace in traces):
        return found, notes
    for export in evidence.of(ExportedPayloads):
        same = [_same_moments(trace, export.payloads) for trace in found]
        counts = [int(moments.sum()) for moments in same]
        best = max(range(len(counts)), key=counts.__getitem__)
        if not counts[best]:
            notes.append(_of_no_report(export))
            continue
        own = export.payloads.take(np.flatnonzero(same[best]))
        if found[best].nccl_payloads is None or not len(found[best].nccl_payloads or ()):
            found[best] = replace(found[best], nccl_payloads=own)
        notes.append(_of_report(export, found[best], counts[best]))
    return found, notes


def _same_moments(trace: Trace, payloads: NcclPayloads) -> BoolArray:
    """Which payloads are of a range of the trace: one of the same thread that begins in the same nanosecond."""
    ranges = trace.nvtx_ranges
    if ranges is None or not len(ranges) or not len(payloads):
        return np.zeros(len(payloads), np.bool_)
    held = set(zip(ranges.global_tid.tolist(), ranges.start_ns.tolist(), strict=True))
    asked = zip(payloads.global_tid.tolist(), payloads.start_ns.tolist(), strict=True)
    return np.array([moment in held for moment in asked], np.bool_)


def _of_report(export: ExportedPayloads, trace: Trace, count: int) -> Note:
    return Note(
        "payloads_from_json",
        f"{display_text(export.name)} is an export of the same report as {display_text(trace.name)}, and tells what is "
        f"attached to {counted(count, 'call')} of NCCL in it.",
    )


def _of_no_report(export: ExportedPayloads) -> Note:
    return Note(
        "payloads_of_no_report",
        f"{display_text(export.name)} tells of no call in the reports given: it is an export of another one, or has "
        "no payloads.",
    )
