"""What a rule is, and which there are: each module here that declares ``RULE`` is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

import nsysan.findings
from nsysan.findings.advice import refuse_unfounded
from nsysan.findings.doubt import with_doubts
from nsysan.model.findings import Finding
from nsysan.model.registry import discover
from nsysan.model.results import ResultSet

_COMPARE = "nsysan compare BEFORE.json AFTER.json, with a run.json of each made by nsysan analyze --json"


class Rule(msgspec.Struct, frozen=True):
    """One kind of finding: its id, which each of its findings bears, and how it is found in the results."""

    id: str
    find: Callable[[ResultSet], Iterable[Finding]]


def find_all(results: ResultSet) -> tuple[Finding, ...]:
    """What every rule finds: the most severe first, of these what wins most, then by id.

    Raises ValueError where a rule advises what does not follow from its cause.
    """
    findings = (_with_check(refuse_unfounded(finding)) for rule in rules() for finding in rule.find(results))
    return tuple(sorted(with_doubts(findings, results), key=_order))


def rules() -> tuple[Rule, ...]:
    """Every rule, in order of module name."""
    return discover(nsysan.findings, "RULE", Rule)


def _with_check(finding: Finding) -> Finding:
    """A finding about the job with the command that shows what a remedy won; one about the trace as it is."""
    return finding if finding.cause is None else msgspec.structs.replace(finding, check=_COMPARE)


def _order(finding: Finding) -> tuple[int, int, str, str]:
    return -finding.severity.rank, -(finding.recoverable_ns or 0), finding.id, finding.title
