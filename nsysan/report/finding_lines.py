"""The findings of a run as lines of the text: the first, what each measure wins, and every doubt about inputs."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.findings.across_nodes import measures_of
from nsysan.model.findings import Finding
from nsysan.model.run import Run
from nsysan.model.units import counted
from nsysan.model.verdicts import Severity
from nsysan.report.columns import WIDTH, cut, wrapped

_DOUBT = "doubted_"


def finding_lines(run: Run, count: int) -> list[str]:
    """The first ``count`` findings, and any later warning that questions what was given; how many are left."""
    shown = [one for place, one in enumerate(run.findings) if place < count or _questions_inputs(one)]
    left_count = len(run.findings) - len(shown)
    more = [f"and {counted(left_count, 'more finding')} on the page"] if left_count else []
    return [*(line for finding in shown for line in _lines(finding)), *more]


def _questions_inputs(finding: Finding) -> bool:
    return finding.id.startswith(_DOUBT) and finding.severity.rank >= Severity.WARNING.rank


def _lines(finding: Finding) -> Iterator[str]:
    yield from wrapped(f"{finding.severity.value}: {finding.title}")
    for place, (what, won) in enumerate(measures_of(finding), start=1):
        # what limits a measure is told on the page
        yield cut(f"measure {place}, at most {won.partition(' a step')[0]}: {what.partition(',')[0]}", WIDTH)
