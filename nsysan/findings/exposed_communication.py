"""Communication that nothing hides: transfer, or what may be transfer or waiting where ranks are missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives
from nsysan.findings.layout_change import layout_evidence
from nsysan.findings.losing import finding_of, losses_to, part_evidence
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.losses import EXPOSED_COLLECTIVE, Bound
from nsysan.model.partition import Part
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import counted, format_duration, format_rate

_LISTED = 3


def find_exposed_communication(results: ResultSet) -> Iterable[Finding]:
    """A finding for exposed transfer, and one for exposed communication of which waiting is not known."""
    for loss in losses_to(results, EXPOSED_COLLECTIVE):
        is_known = loss.bound is not Bound.AT_MOST
        unknown = "Communication is exposed, and whether it transfers or waits for other ranks is not known"
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title="The GPU waits for transfers that nothing hides" if is_known else unknown,
            evidence=(
                *_largest(results),
                *layout_evidence(results),
                *part_evidence(results, Part.EXPOSED_COMMUNICATION),
            ),
            confirm="Compare busbw with nccl-tests of the same size and ranks: slow links need another remedy than "
            "transfers that begin too late."
            if is_known
            else "Give the reports of all ranks, and set NCCL's NVTX ranges free (NCCL_NVTX_DISABLE unset).",
            confidence=Confidence.HIGH if is_known else Confidence.LOW,
        )


RULE = Rule("exposed_communication", find_exposed_communication)


def _largest(results: ResultSet) -> Iterator[Evidence]:
    """The collectives with most exposed time, as far as it may be transfer."""
    found = results.get(Collectives)
    rows = () if isinstance(found, Skipped) else found.collectives
    for row in sorted(rows, key=lambda row: -_most_transfer_ns(row))[:_LISTED]:
        if row.exposed_ns:
            yield Evidence(_sentence(row), Collectives.id)


def _most_transfer_ns(row: CollectiveRow) -> int:
    """How much of the exposed time may be transfer: all of it, or what is no waiting where that is known of all."""
    if row.wait_ns is None or row.complete_count < row.count:
        return row.exposed_ns
    return min(row.exposed_ns, row.duration_ns - row.wait_ns)


def _sentence(row: CollectiveRow) -> str:
    name = spelled(row.kind)
    purpose = "" if row.purpose is None else f" ({spelled(row.purpose.value)})"
    rate = "" if row.busbw_bytes_per_s is None else f", busbw {format_rate(row.busbw_bytes_per_s)}"
    most_ns = _most_transfer_ns(row)
    waiting = "" if most_ns == row.exposed_ns else f", of which at most {format_duration(most_ns)} is no waiting"
    return (
        f"{counted(row.count, 'instance')} of {name}{purpose} over {counted(len(row.ranks), 'rank')}: "
        f"{format_duration(row.exposed_ns)} exposed, summed over ranks{waiting}{rate}."
    )
