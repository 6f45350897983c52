"""Code that is loaded or compiled in the steps."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.findings.losing import finding_of, gap_evidence, losses_to, whose
from nsysan.findings.registry import Rule
from nsysan.model.findings import Finding
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet


def find_module_loading(results: ResultSet) -> Iterable[Finding]:
    """A finding where steps, or the window, wait for code to be loaded."""
    for loss in losses_to(results, Cause.MODULE_LOADING.value):
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title=capitalized(f"{whose(loss)}the GPU waits for code to be loaded"),
            evidence=gap_evidence(results, Cause.MODULE_LOADING),
            confirm="Record some steps later: code that is loaded once is gone then.",
        )


RULE = Rule("module_loading", find_module_loading)
