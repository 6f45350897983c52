"""A simulated job as the exports that nsys would have made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypedDict

from nsysan.model.copies import CopyKind, MemoryKind
from nsysan.synth.export import Export, KernelShape
from nsysan.synth.placement import Placement
from nsysan.synth.recording_plan import RecordingPlan
from nsysan.synth.simulation.payload import PayloadSchema
from nsysan.synth.simulation.program import TaskKind
from nsysan.synth.simulation.timelines import GpuWork, Range, RankTimeline, Simulation
from nsysan.synth.system_recording import add_system_records, ask
from nsysan.synth.tables.schema import GRAPH_TRACE, Release
from nsysan.synth.trace_kind import TraceKind
from nsysan.synth.training.domains import DOMAIN_NAMES, NCCL_DOMAIN


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
    Payloads of NVTX ranges are there if the export ``includes_blobs``, which schema 3.7 cannot.
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
            _add_ranges(export, place.pid, timeline.ranges, includes_blobs=plan.includes_blobs)
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


def _add_ranges(export: Export, pid: int, ranges: Sequence[Range], *, includes_blobs: bool) -> None:
    used = {NCCL_DOMAIN} | {found.domain_id for found in ranges}
    for domain_id, name in DOMAIN_NAMES.items():
        if domain_id in used:
            export.nvtx_domain(domain_id, name, pid=pid)
    if export.release.is_new:
        _add_schemas(export, ranges)
    for found in ranges:
        if found.text is not None:
            domain_id = found.domain_id
            blob = found.payload.blob(domain_id) if includes_blobs and found.payload is not None else None
            registered = domain_id == NCCL_DOMAIN
            span = (found.start_ns, found.end_ns, found.text)
            export.nvtx(*span, pid=pid, domain=domain_id, registered=registered, payload=blob)


def _add_schemas(export: Export, ranges: Sequence[Range]) -> None:
    """Those that the process has registered, with blobs or without: NCCL does so when it first uses one."""
    used = {found.payload.schema for found in ranges if found.payload is not None}
    for schema in PayloadSchema:
        if schema in used:
            export.payload_schema(schema, domain=NCCL_DOMAIN)
    if used:
        export.payload_reductions(domain=NCCL_DOMAIN)


def _add_work(export: Export, place: Placement, work: GpuWork) -> None:
    where = _Where(pid=place.pid, device=place.device_id, stream=work.stream_id, correlation=work.call.correlation_id)
    start_ns, end_ns, task = work.start_ns, work.end_ns, work.task
    if task.kind is TaskKind.KERNEL:
        export.kernel(start_ns, end_ns, task.name, shape=KernelShape(grid=(task.block_count, 1, 1)), **where)
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
