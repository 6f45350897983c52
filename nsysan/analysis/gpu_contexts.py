"""Which contexts the GPUs ran, and whether they are of processes that were recorded."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from nsysan.analysis.named_calls import Window, report_windows
from nsysan.attribution.devices import Gpu
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.job import Job
from nsysan.model.distinct import distinct
from nsysan.model.host_events import SwitchTag
from nsysan.model.tables import ABSENT, GpuSwitches
from nsysan.model.trace import process_of
from nsysan.timeline.intervals import Intervals, union
from nsysan.timeline.ordering import order_of

_BEGINS = (SwitchTag.RESTORE_START, SwitchTag.CONTEXT_START)
MOST_CONTEXTS = 64


class GpuContext(msgspec.Struct, frozen=True):
    """A context that a GPU ran in the window of its report, told from the switches between contexts.

    ``is_recorded`` says whether its process did GPU work that was recorded; null where no context is of such a process,
    as where the process ids of a container differ from those of its host. ``in_idle_ns`` is what it ran while the
    recorded work of the GPU was idle, null where it is not known which of ``gpus`` it is.
    """

    report: int
    machine_gpu_id: int
    gpu: str | None
    pid: int | None
    is_recorded: bool | None
    turn_count: int
    resident_ns: int
    in_idle_ns: int | None


def gpu_contexts(job: Job) -> tuple[GpuContext, ...]:
    """The contexts of every report, those that ran longest first."""
    found = [
        context
        for report, window in report_windows(job).items()
        for context in _of_report(job, report, window, job.idle.threads[report].host.trace.gpu_switches)
    ]
    ordered = sorted(found, key=lambda context: (context.report, context.machine_gpu_id, -context.resident_ns))
    return tuple(ordered)[:MOST_CONTEXTS]


def _of_report(job: Job, report: int, window: Window, switches: GpuSwitches | None) -> Iterator[GpuContext]:
    if switches is None:
        return
    recorded = {device.global_pid for device in job.devices_of(report)}
    known = bool(recorded & set(distinct(switches.global_pid).tolist()))
    switches = switches.take(np.isin(switches.tag, [int(tag) for tag in (*_BEGINS, SwitchTag.SAVE_END)]))
    context_of = codes_of(switches.gpu_id, switches.context_id, switches.global_pid)
    gpus = {gpu.identity.machine_id: gpu for gpu in job.gpus if gpu.devices[0].report == report}
    for context in range(int(context_of.max(initial=-1)) + 1):
        of_context = switches.take(context_of == context)
        turns = _turns(of_context, window)
        if turns.total_ns:
            global_pid, machine_id = int(of_context.global_pid[0]), int(of_context.gpu_id[0])
            gpu = gpus.get(machine_id)
            yield GpuContext(
                report=report,
                machine_gpu_id=machine_id,
                gpu=None if gpu is None else gpu.id,
                pid=process_of(global_pid),
                is_recorded=global_pid in recorded if known and global_pid != ABSENT else None,
                turn_count=len(turns),
                resident_ns=turns.total_ns,
                in_idle_ns=None if gpu is None else _in_idle(gpu, turns),
            )


def _turns(switches: GpuSwitches, window: Window) -> Intervals:
    """When one context was on the GPU, cut to the window; before its first event and after its last as that tells."""
    order = order_of(switches.start_ns, switches.sequence)
    times_ns = np.clip(switches.start_ns[order], *window)
    begins = np.isin(switches.tag[order], [int(tag) for tag in _BEGINS])
    starts_ns = np.concatenate([np.full(int(not begins[0]), window[0]), times_ns])
    is_on = np.concatenate([np.ones(int(not begins[0]), np.bool_), begins])
    ends_ns = np.append(starts_ns[1:], window[1])
    return union(starts_ns[is_on], ends_ns[is_on])


def _in_idle(gpu: Gpu, turns: Intervals) -> int:
    return turns.overlap_ns(gpu.occupancy.idle())
