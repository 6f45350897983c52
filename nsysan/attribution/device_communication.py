"""What questions across ranks ask of a device besides its communication kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from nsysan.attribution.collectives.exposure import computing_in, exposed_in
from nsysan.attribution.devices import Device
from nsysan.attribution.host import Host
from nsysan.attribution.job import Job
from nsysan.attribution.launch import NO_CALL
from nsysan.model.arrays import IdArray
from nsysan.model.distinct import distinct
from nsysan.model.partition import Activity
from nsysan.model.trace import Trace
from nsysan.timeline.intervals import Intervals, intersection, union


class DeviceCommunication(msgspec.Struct, frozen=True, eq=False):
    """When a device's communication is exposed, and when it computes beside it, on its report's clock.

    ``stages`` has the stage of each of its communication kernels in order of begin, null where it has no steps.
    """

    exposed: Intervals
    computing: Intervals
    stages: IdArray | None


def communication_of(job: Job) -> dict[str, DeviceCommunication]:
    """The communication of each device of the job."""
    return {device.id: _communication_of(job, device) for device in job.devices}


def _communication_of(job: Job, device: Device) -> DeviceCommunication:
    activities, occupancy = device.activities, device.occupancy
    communicates = (activities.kind == int(Activity.COMMUNICATION)) & activities.are_of("kernels")
    kernels = activities.take(communicates)
    beside = intersection(computing_in(occupancy), union(kernels.start_ns, kernels.end_ns))
    staged = job.stages.of_activities(device)
    return DeviceCommunication(exposed_in(occupancy), beside, None if staged is None else staged.stage[communicates])


def communication_records(job: Job, report: int) -> dict[str, Any]:
    """The fields of a trace that has nothing but the report's communication kernels and the calls behind them.

    The kernels of each device are in the order in which its member has them.
    """
    host = job.idle.threads[report].host
    kernels = host.trace.kernels
    own = [member.kernel_rows for member in job.collectives.members if member.report == report]
    rows = np.concatenate([*own, np.empty(0, np.int64)]).astype(np.int64)
    if kernels is None or not len(rows):
        return {}
    launched_by = host.launches.rows["kernels"][rows].astype(np.int64)
    kept = kernels.take(rows)
    calls = host.calls.take(distinct(launched_by[launched_by != NO_CALL]))
    names = dict(_names(host, kept.name_id)) | dict(_names(host, calls.name_id))
    return {"kernels": kept.narrowed(), "runtime_calls": calls.narrowed(), "strings": names}


def _names(host: Host, name_ids: IdArray) -> Iterator[tuple[int, str]]:
    trace: Trace = host.trace
    return ((name_id, trace.strings[name_id]) for name_id in distinct(name_ids).tolist() if name_id in trace.strings)
