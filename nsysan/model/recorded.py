"""Which kinds of records a report holds: two captures with other kinds were recorded otherwise, or lost some."""

from __future__ import annotations

from collections.abc import Mapping

from nsysan.model.distinct import distinct
from nsysan.model.trace import Trace

RECORD_KINDS: Mapping[str, str] = {
    "kernels": "kernels",
    "copies": "memory copies",
    "runtime_calls": "CUDA calls",
    "nvtx_ranges": "NVTX ranges",
    "os_calls": "calls of the operating system",
    "scheduling_events": "scheduling of threads",
    "cpu_samples": "samples of the CPU",
    "counter_samples": "counters of the GPU",
    "kernel_names": "names of kernels",
}
"""What is recorded throughout or not at all, as told to the profiler, mostly by the field of the trace.

Not so what a sound run may have none of, such as memory events in a steady stretch.
"""


def recorded_kinds(trace: Trace) -> tuple[str, ...]:
    """The kinds of ``RECORD_KINDS`` that the report holds."""
    return tuple(kind for kind in RECORD_KINDS if _holds(trace, kind))


def _holds(trace: Trace, kind: str) -> bool:
    if kind == "kernel_names":
        return trace.kernels is not None and not trace.strings.keys().isdisjoint(
            distinct(trace.kernels.name_id).tolist()
        )
    table = getattr(trace, kind)
    return table is not None and len(table) > 0
