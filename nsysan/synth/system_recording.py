"""What a capture holds of a simulated rank besides CUDA and NVTX, as far as it was asked for."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypedDict

from nsysan.synth.export import Export
from nsysan.synth.placement import Placement
from nsysan.synth.recording_plan import RecordingPlan
from nsysan.synth.simulation.timelines import RankTimeline, Synchronization, SyncKind
from nsysan.synth.system.memory import memory_events
from nsysan.synth.system.os_wait import os_calls, switches
from nsysan.synth.tables.gpu_records import SyncType
from nsysan.synth.trace_kind import TraceKind

_SYNC_TYPES = {
    SyncKind.WAIT_EVENT: SyncType.STREAM_WAIT_EVENT,
    SyncKind.STREAM: SyncType.STREAM,
    SyncKind.DEVICE: SyncType.CONTEXT,
}
_OLD_NAMES = {"SMs Active": "SM Active"}
"""What schema 3.7 calls counters that 3.25 calls otherwise."""


class _Where(TypedDict):
    pid: int
    device: int
    correlation: int


def ask(export: Export, kinds: Collection[TraceKind]) -> None:
    """Let the report say what was asked of the capture."""
    names = {TraceKind.OSRT: "OSRuntime", TraceKind.NVTX: "NvtxEvents", TraceKind.CUDA: "Cuda"}
    memory = {"COLLECT_GPU_MEMORY_USAGE": "true"} if TraceKind.MEMORY in kinds else {}
    export.captured(*(name for kind, name in names.items() if kind in kinds), **memory)


def add_system_records(export: Export, place: Placement, timeline: RankTimeline, plan: RecordingPlan) -> None:
    """Add the records of every kind that ``plan`` has."""
    if TraceKind.OSRT in plan.kinds:
        for call in os_calls(timeline.spans):
            export.os_call(call.start_ns, call.end_ns, call.name, pid=place.pid)
    if TraceKind.SCHED in plan.kinds:
        for switch in switches(os_calls(timeline.spans)):
            export.switch(switch.time_ns, is_in=switch.is_in, pid=place.pid, cpu=place.gpu_id)
    if TraceKind.MPI in plan.kinds:
        export.mpi_rank(place.rank, pid=place.pid)
    if TraceKind.SYNC in plan.kinds:
        for found in timeline.synchronizations:
            _add_synchronization(export, place, found)
    if TraceKind.MEMORY in plan.kinds:
        _add_memory(export, place, timeline, plan)
    if TraceKind.METRICS in plan.kinds:
        _add_samples(export, place, timeline, plan)


def _add_synchronization(export: Export, place: Placement, found: Synchronization) -> None:
    call = found.call
    where = _Where(pid=place.pid, device=place.device_id, correlation=call.correlation_id)
    if found.kind is SyncKind.RECORD_EVENT:
        if found.event_id is not None and found.stream_id is not None:
            export.cuda_event(found.event_id, stream=found.stream_id, **where)
        return
    margin_ns = min(200, (call.end_ns - call.start_ns) // 4)
    times = (call.start_ns + margin_ns, call.end_ns - margin_ns)
    export.synchronization(*times, _SYNC_TYPES[found.kind], event=found.event_id, stream=found.stream_id, **where)


def _add_memory(export: Export, place: Placement, timeline: RankTimeline, plan: RecordingPlan) -> None:
    for event in memory_events(timeline.calls, timeline.spans[0].start_ns, plan.footprint):
        export.memory(
            event.time_ns,
            event.size_bytes,
            event.address,
            is_freed=event.is_freed,
            pid=place.pid,
            device=place.device_id,
            correlation=event.correlation_id,
        )


def _add_samples(export: Export, place: Placement, timeline: RankTimeline, plan: RecordingPlan) -> None:
    from nsysan.synth.system.counters import METRICS, SAMPLE_NS, Counters

    names = {metric: metric if export.release.is_new else _OLD_NAMES.get(metric, metric) for metric in METRICS}
    export.gpu_metrics(place.gpu_id, list(names.values()))
    count = plan.repetition.period_ns // SAMPLE_NS
    for time_ns, values in Counters(timeline.works).samples(timeline.spans[0].start_ns, count):
        export.gpu_sample(time_ns, place.gpu_id, {names[metric]: value for metric, value in values.items()})
