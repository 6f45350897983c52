"""Stages of a pipeline that wait for each other's tensors."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.pipelines import PipelineRow, Pipelines
from nsysan.findings.losing import finding_of, losses_to, part_evidence
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.kernels import Collective
from nsysan.model.losses import PIPELINE_BUBBLE
from nsysan.model.partition import Part
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import counted, format_fraction

_MESSAGE = Collective.SEND_RECV.value


def find_pipeline_bubble(results: ResultSet) -> Iterable[Finding]:
    """A finding where stages wait for each other; where waits are not known, where messages between two are exposed."""
    first = _first_pipeline(results)
    for loss in losses_to(results, PIPELINE_BUBBLE):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title="Stages of the pipeline wait for each other",
            evidence=(*_schedule(first), *_messages(results), *part_evidence(results, Part.EXPOSED_COMMUNICATION)),
            confirm=_confirm(first),
            confidence=Confidence.MEDIUM if first is None else Confidence.HIGH,
        )


RULE = Rule("pipeline_bubble", find_pipeline_bubble)


def _first_pipeline(results: ResultSet) -> PipelineRow | None:
    """The pipeline with the largest bubble, where waits are known."""
    found = results.get(Pipelines)
    return None if isinstance(found, Skipped) else next(iter(found.pipelines), None)


def _schedule(pipeline: PipelineRow | None) -> Iterable[Evidence]:
    """What stages wait, beside what the schedule alone makes them."""
    if pipeline is None:
        return
    stages, share = counted(len(pipeline.ranks), "stage"), format_fraction(pipeline.bubble_frac)
    told = f"The {stages} of a pipeline wait {share} of the time for each other"
    if pipeline.ideal_frac is not None and pipeline.part_count is not None:
        alone = f"{counted(pipeline.part_count, 'part')} a step alone make {format_fraction(pipeline.ideal_frac)}"
        told = f"{told}; {alone}"
    yield Evidence(f"{told}.", Pipelines.id)


def _confirm(pipeline: PipelineRow | None) -> str:
    """Whether the schedule explains the bubble, or how to tell where its parts are not known."""
    if pipeline is None or pipeline.ideal_frac is None:
        return "Compare with (p - 1) / (m + p - 1) of p stages and m micro-batches: more is unequal stages or links."
    if pipeline.is_uneven:
        return "The schedule alone makes less: compare the computing of the stages, and the time of their messages."
    return "The schedule alone makes as much: record again with more micro-batches, which must shrink it."


def _messages(results: ResultSet) -> Iterable[Evidence]:
    """How many messages there are between how many ranks."""
    found = results.get(Collectives)
    rows = [] if isinstance(found, Skipped) else [row for row in found.collectives if row.kind == _MESSAGE]
    ranks = {rank for row in rows for rank in row.ranks}
    if rows:
        count = counted(sum(row.count for row in rows), "message")
        yield Evidence(f"{count} between {counted(len(ranks), 'rank')}.", Collectives.id)
