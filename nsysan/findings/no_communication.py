"""Several GPUs and no communication kernel: either they do not work together, or the names are not known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nsysan.analysis.gpu_time import GpuTime, GpuTimes
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.verdicts import Severity


def find_no_communication(results: ResultSet) -> Iterable[Finding]:
    """A warning where two or more GPUs show no communication at all."""
    gpu_time = results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return
    kernels = gpu_time.job.missing_kernels
    if kernels is not None and not kernels.usable_count:
        # nothing is known of what these GPUs ran, and missing_records says so
        return
    if _distinct_count(gpu_time.gpus) == 1 or any(map(_communicates, gpu_time.gpus)):
        return
    graphs = any(gpu.time.opaque_graph_ns for gpu in gpu_time.gpus)
    yield notice(
        RULE.id,
        Severity.WARNING,
        f"{_distinct_count(gpu_time.gpus)} GPUs, but no communication between them was recognised",
        (Evidence("No kernel or copy in the windows belongs to a known communication family.", GpuTime.id),),
        (
            "Record with --cuda-graph-trace=node: communication inside whole-graph records is not seen."
            if graphs
            else "If these GPUs do train together, look for their collectives among the unclassified kernels."
        ),
    )


RULE = Rule("no_communication", find_no_communication)


def _distinct_count(gpus: Sequence[GpuTimes]) -> int:
    """How many GPUs these are: one that was seen at two times is one."""
    return len({gpu.uuid or gpu.id for gpu in gpus})


def _communicates(gpu: GpuTimes) -> bool:
    return bool(gpu.exposed_communication_max_ns or gpu.time.overlapped_ns or gpu.time.fused_ns)
