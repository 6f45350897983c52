"""A simulated job as the exports that nsys would have made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

from nsysan.model.copies import CopyKind, MemoryKind
from nsysan.synth.export import Export
from nsysan.synth.placement import Placement
from nsysan.synth.program import TaskKind
from nsysan.synth.recording_plan import RecordingPlan
from nsysan.synth.schema import GRAPH_TRACE, Release
from nsysan.synth.simulation import GpuWork, RankTimeline, Simulation
from nsysan.synth.system_recording import add_system_records, ask
from nsysan.synth.trace_kind import TraceKind
from nsysan.synth.transformer import NCCL_DOMAIN


def is_recorded(kind: TaskKind, release: Release) -> bool:
    """Whether the release has a table for such a task: of whole graphs, 3.7 keeps the launch calls only."""
    return kind is not TaskKind.GRAPH or release.has_table(GRAPH_TRACE)


class _Where(TypedDict):
    pid: int
    device: int
    stream: int
    correlation: int


class _Call(TypedDict):
    pid: int
    correlation: int
    event_class: int


def record(simulation: Simulation, places: Sequence[Placement], plan: RecordingPlan) -> dict[str, Export]:
    """The exports by file name; ranks that share a file are processes of one report.

    Where nsys launched the rank itself, not a launcher of all ranks, the environment it recorded is that rank's.
    """
    exports: dict[str, Export] = {}
    ranks_in = Counter(place.file for place in places)
    for place in places:
        export = exports.setdefault(place.file, Export(plan.schema).host(place.host).repeat(plan.repetition))
        export.session(utc_epoch_ns=place.session.utc_epoch_ns)
        ask(export, plan.kinds)
        if ranks_in[place.file] == 1:
            _add_environment(export, place, len(simulation.ranks))
        _add_gpu(export, place)
        timeline = simulation.ranks[place.rank]
        _add_cuda(export, place, timeline)
        if TraceKind.NVTX in plan.kinds:
            _add_ranges(export, place, timeline)
        add_system_records(export, place, timeline, plan)
    return exports


def _add_environment(export: Export, place: Placement, rank_count: int) -> None:
    export.environment("RANK", str(place.rank))
    export.environment("LOCAL_RANK", str(place.gpu_id))
    export.environment("WORLD_SIZE", str(rank_count))


def _add_gpu(export: Export, place: Placement) -> None:
    export.gpu(place.gpu_id, uuid=place.uuid, bus_location=f"0000:{place.gpu_id + 16:02x}:00.0")
    if export.release.is_new:
        export.cuda_device(pid=place.pid, device_id=place.device_id, gpu_id=place.gpu_id, uuid=place.uuid)


def _add_cuda(export: Export, place: Placement, timeline: RankTimeline) -> None:
    for work in timeline.works:
        _add_work(export, place, work)
    for call in timeline.calls:
        where = _Call(pid=place.pid, correlation=call.correlation_id, event_class=int(call.is_driver))
        export.call(call.start_ns, call.end_ns, call.name, **where)


def _add_ranges(export: Export, place: Placement, timeline: RankTimeline) -> None:
    pid = place.pid
    export.nvtx_domain(NCCL_DOMAIN, "NCCL", pid=pid)
    for found in timeline.ranges:
        registered = found.domain_id == NCCL_DOMAIN
        export.nvtx(found.start_ns, found.end_ns, found.text, pid=pid, domain=found.domain_id, registered=registered)


def _add_work(export: Export, place: Placement, work: GpuWork) -> None:
    where = _Where(pid=place.pid, device=place.device_id, stream=work.stream_id, correlation=work.call.correlation_id)
    start_ns, end_ns, task = work.start_ns, work.end_ns, work.task
    if task.kind is TaskKind.KERNEL:
        export.kernel(start_ns, end_ns, task.name, **where)
    elif task.kind is TaskKind.GRAPH:
        if is_recorded(task.kind, export.release):
            export.graph(start_ns, end_ns, **where)
    elif task.kind is TaskKind.MEMSET:
        export.memset(start_ns, end_ns, task.size_bytes, **where)
    else:
        ends = (task.host_memory, MemoryKind.DEVICE)
        source, target = ends if task.copy_kind == CopyKind.HOST_TO_DEVICE else ends[::-1]
        kind = task.copy_kind
        export.copy(start_ns, end_ns, task.size_bytes, kind=kind, src_memory=source, dst_memory=target, **where)
