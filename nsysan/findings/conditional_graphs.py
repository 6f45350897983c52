"""CUDA graphs with loops or branches of their own: a profiler may record less than they run."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.graph_builds import GraphBuilds
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import counted
from nsysan.model.verdicts import Severity


def find_conditional_graphs(results: ResultSet) -> Iterable[Finding]:
    """A caveat where graphs with conditional nodes were made: of a loop only the first round may be recorded."""
    builds = results.get(GraphBuilds)
    if isinstance(builds, Skipped):
        return
    count = sum(row.conditional_count for row in builds.graph_builds)
    if not count:
        return
    yield notice(
        RULE.id,
        Severity.INFO,
        "CUDA graphs have conditional nodes: kernels of loops and branches inside may be missing",
        (Evidence(f"{counted(count, 'conditional handle')} made while recording.", GraphBuilds.id),),
        "Take idle time while such a graph runs as an upper bound; CUPTI may record a loop's first round only.",
    )


RULE = Rule("conditional_graphs", find_conditional_graphs)
"""Known for PyTorch's profiler (kineto issue 1062), which records with the same CUPTI as nsys."""
