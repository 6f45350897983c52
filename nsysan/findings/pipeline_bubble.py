"""Stages of a pipeline that wait for each other's tensors."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.collectives import Collectives
from nsysan.findings.losing import finding_of, losses_to, part_evidence
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.kernels import Collective
from nsysan.model.losses import PIPELINE_BUBBLE
from nsysan.model.partition import Part
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import counted

_MESSAGE = Collective.SEND_RECV.value


def find_pipeline_bubble(results: ResultSet) -> Iterable[Finding]:
    """A finding where messages between pairs of ranks are exposed: waiting for a turn, and transfer."""
    for loss in losses_to(results, PIPELINE_BUBBLE):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title="Stages of the pipeline wait for each other",
            evidence=(*_messages(results), *part_evidence(results, Part.EXPOSED_COMMUNICATION)),
            confirm="Compare with (p - 1) / (m + p - 1) of p stages and m micro-batches: more is unequal "
            "stages or links.",
            confidence=Confidence.MEDIUM,
        )


RULE = Rule("pipeline_bubble", find_pipeline_bubble)


def _messages(results: ResultSet) -> Iterable[Evidence]:
    """How many messages there are between how many ranks."""
    found = results.get(Collectives)
    rows = [] if isinstance(found, Skipped) else [row for row in found.collectives if row.kind == _MESSAGE]
    ranks = {rank for row in rows for rank in row.ranks}
    if rows:
        count = counted(sum(row.count for row in rows), "message")
        yield Evidence(f"{count} between {counted(len(ranks), 'rank')}.", Collectives.id)
