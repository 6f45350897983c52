"""Copies that the GPU waits for: of the batch, to the host, or of anything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.copy_summary import CopySummary
from nsysan.findings.losing import finding_of, losses_to, part_evidence, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.idle import Cause
from nsysan.model.losses import EXPOSED_COPY
from nsysan.model.partition import Part
from nsysan.model.prose import capitalized, spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import counted, format_bytes, format_rate
from nsysan.model.verdicts import BottleneckClass

_WHAT = {
    BottleneckClass.DATA: "copies of the batch",
    BottleneckClass.MEMORY: "copies between host and GPU",
    BottleneckClass.SCHEDULING: "copies to the host",
}
_LISTED = 2


def find_copies(results: ResultSet) -> Iterable[Finding]:
    """A finding for each class whose copies the GPUs wait for, blocking and others apart."""
    for cause, how in ((Cause.BLOCKING_COPY.value, "blocking "), (EXPOSED_COPY, "")):
        for bottleneck_class, what in _WHAT.items():
            for loss in losses_to(results, cause, bottleneck_class):
                yield finding_of(
                    loss,
                    results,
                    rule=RULE.id,
                    title=capitalized(f"{whose(loss)}the GPU waits for {how}{what}"),
                    evidence=(*_copies(results), *part_evidence(results, Part.EXPOSED_COPY)),
                    confirm="Look which memory the copies come from and who starts them; pageable memory "
                    "blocks its thread.",
                )


RULE = Rule("copies", find_copies)


def _copies(results: ResultSet) -> Iterator[Evidence]:
    """The kinds of copies with the most time."""
    found = results.get(CopySummary)
    rows = [] if isinstance(found, Skipped) else [row for row in found.copies if row.direction != "memset"]
    for row in rows[:_LISTED]:
        memory = "" if row.src_memory is None else f" from {row.src_memory} memory"
        size = "" if row.size_bytes is None else f", {format_bytes(row.size_bytes)}"
        rate = "" if row.rate_bytes_per_s is None else f" at {format_rate(row.rate_bytes_per_s)}"
        name = spelled(row.direction)
        yield Evidence(f"{counted(row.count, 'copy')} {name}{memory}{size}{rate}.", CopySummary.id)
