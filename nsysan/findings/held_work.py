"""Launched work that something holds back while the GPU is idle."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_held_work(results: ResultSet) -> Iterable[Finding]:
    """A finding where launched work does not start on an idle GPU."""
    for loss in losses_to(results, Cause.DEVICE_WAIT.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}launched work is held back while the GPU idles"),
            evidence=gap_evidence(results, Cause.DEVICE_WAIT),
            confirm="Record with --cuda-event-trace=true: which stream or event does the work wait for?",
        )


RULE = Rule("held_work", find_held_work)
