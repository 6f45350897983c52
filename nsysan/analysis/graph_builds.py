"""CUDA graphs as the host makes them: how often they are instantiated, in how many steps, and with which nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.of_reports import OfReport, answered, skipped_by_all
from nsysan.analysis.registry import Analysis
from nsysan.attribution.cuda_calls import CallKind
from nsysan.attribution.devices import Device
from nsysan.attribution.host import Host
from nsysan.attribution.job import Job
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import Distinct
from nsysan.model.profilers import RECORD_HOST
from nsysan.model.results import ResultSet, Skipped

_INSTANTIATES = re.compile(r"cu(da)?GraphInstantiate")
_CONDITIONAL = re.compile(r"cu(da)?GraphConditionalHandleCreate")


class GraphBuildsOfDevice(msgspec.Struct, frozen=True):
    """The graphs of a device's process in the capture; a process with several devices is told for each.

    ``instantiate_ns`` is the time of the calls; in ``instantiating_step_count`` of the device's ``step_count`` closed
    steps such a call begins. ``conditional_count`` conditional nodes were made: loops and branches on the GPU.
    """

    device: str
    launch_count: int
    instantiate_count: int
    instantiate_ns: int
    step_count: int
    instantiating_step_count: int
    conditional_count: int


class GraphBuilds(msgspec.Struct, frozen=True):
    """The devices whose processes make or launch graphs."""

    id: ClassVar[str] = "graph_builds"

    graph_builds: tuple[GraphBuildsOfDevice, ...]


def compute_graph_builds(job: Job, _results: ResultSet) -> GraphBuilds | Skipped:
    """The graphs of every device; skipped where no calls were recorded."""
    if not job.gpus:
        return no_gpu_work(GraphBuilds.id, job)
    if not any(len(threads.host.calls) for threads in job.idle.threads):
        recapture = RECORD_HOST.by({trace.profiler for trace in job.traces})
        return Skipped(GraphBuilds.id, "the trace holds no CUDA calls", recapture)
    found = (_of_device(job, device) for device in job.devices)
    return GraphBuilds(
        tuple(row for row in found if row.launch_count or row.instantiate_count or row.conditional_count)
    )


def merge_graph_builds(_job: Job, _results: ResultSet, parts: Sequence[OfReport]) -> GraphBuilds | Skipped:
    """The devices of all reports."""
    found = answered(parts, GraphBuilds)
    rows = (replace(row, device=part.device(row.device)) for part, told in found for row in told.graph_builds)
    return GraphBuilds(tuple(rows)) if found else skipped_by_all(parts, GraphBuilds)


ANALYSIS = Analysis(GraphBuilds, compute_graph_builds, merge=merge_graph_builds)


def _of_device(job: Job, device: Device) -> GraphBuildsOfDevice:
    host = job.idle.threads[device.report].host
    instantiations = host.calls.take(_calls_named(host, device.global_pid, _INSTANTIATES))
    _, steps = job.steps.of_device(device)
    held = np.empty(0, np.int64) if steps is None else steps.labelling().at(instantiations.start_ns)
    launches = host.calls_of(device.global_pid, CallKind.GRAPH_LAUNCH)
    return GraphBuildsOfDevice(
        device=device.id,
        launch_count=int((~host.launches.is_repeated[launches]).sum()),
        instantiate_count=len(instantiations),
        instantiate_ns=int((instantiations.end_ns - instantiations.start_ns).sum()),
        step_count=0 if steps is None else len(steps),
        instantiating_step_count=len(Distinct.of(held[held >= 0]).values),
        conditional_count=len(_calls_named(host, device.global_pid, _CONDITIONAL)),
    )


def _calls_named(host: Host, global_pid: int, pattern: re.Pattern[str]) -> Int64Array:
    """The calls of the process with such a name, further rows of one call left out."""
    building = host.calls_of(global_pid, CallKind.GRAPH_BUILD)
    building = building[~host.launches.is_repeated[building]]
    name_ids, name_of = np.unique(host.calls.name_id[building], return_inverse=True)
    named = [pattern.match(host.trace.text(name_id)) is not None for name_id in name_ids.tolist()]
    return building[np.array(named, np.bool_)[name_of]]
