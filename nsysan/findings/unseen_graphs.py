"""Graph launches without GPU records: the GPU did work that the report does not hold."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.gpu_time import GpuTime
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import counted
from nsysan.model.verdicts import Severity


def find_unseen_graphs(results: ResultSet) -> Iterable[Finding]:
    """A warning where CUDA graphs were launched that left no record: time that looks idle may have been busy."""
    gpu_time = results.get(GpuTime)
    if isinstance(gpu_time, Skipped) or not gpu_time.job.unseen_graph_launch_count:
        return
    consequence = (
        "idle time may have been busy" if gpu_time.job.time.idle.worst_frac else "the GPU did more than is shown"
    )
    launches = counted(gpu_time.job.unseen_graph_launch_count, "CUDA graph launch")
    yield notice(
        RULE.id,
        Severity.WARNING,
        f"{launches} left no record of what ran: {consequence}",
        (Evidence(f"No kernel, copy or graph record answers {launches}.", GpuTime.id),),
        "Record with --cuda-graph-trace=node, or export with a newer nsys, which keeps whole graphs.",
    )


RULE = Rule("unseen_graphs", find_unseen_graphs)
