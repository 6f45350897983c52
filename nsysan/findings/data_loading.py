"""Input that comes late: the GPU waits for its next batch."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_data_loading(results: ResultSet) -> Iterable[Finding]:
    """A finding where the GPUs wait for the data loader."""
    for loss in losses_to(results, Cause.DATA_LOADING.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the GPU waits for the data loader"),
            evidence=gap_evidence(results, Cause.DATA_LOADING),
            confirm="Time the loader alone, without the model: is it slower than a step? Record with -t "
            "osrt,nvtx to see what it waits for.",
        )


RULE = Rule("data_loading", find_data_loading)
