"""CUDA graphs recorded as whole blocks: the GPU is at most busy there, with what is not known."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.gpu_time import GpuTime
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import format_fraction
from nsysan.model.verdicts import Severity


def find_opaque_graphs(results: ResultSet) -> Iterable[Finding]:
    """Information where opaque graphs hold any of the window: a limit of the recording, and no fault."""
    gpu_time = results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return
    share = gpu_time.job.time.opaque_graph
    if not share.worst_frac:
        return
    yield notice(
        RULE.id,
        Severity.INFO,
        f"{format_fraction(share.mean_frac)} of the window passes inside CUDA graphs whose kernels are unknown",
        (Evidence("Each launch was recorded as one block: computing and communicating look alike.", GpuTime.id),),
        "Record with --cuda-graph-trace=node; it costs some overhead, so compare the step time with and without.",
    )


RULE = Rule("opaque_graphs", find_opaque_graphs)
