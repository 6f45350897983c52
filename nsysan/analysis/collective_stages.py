"""Which stage of the step each operation of a collective belongs to."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.job import Job
from nsysan.attribution.stages.codes import STAGES, UNASSIGNED
from nsysan.model.arrays import Int64Array
from nsysan.model.partition import Activity
from nsysan.model.stages import Stage

LEFT_OUT = -2
"""In place of the stage of a device that is left out of the job."""


def stages_of_operations(job: Job) -> Int64Array:
    """The code of each operation's stage; ``UNASSIGNED`` without steps, and where nothing tells."""
    found = job.collectives
    devices = {device.id: device for device in job.devices}
    stages = np.full(len(found.operations), UNASSIGNED, np.int64)
    for place, member in enumerate(found.members):
        device = devices.get(member.id)
        own = found.rows_of(place)
        if device is None:
            stages[own] = LEFT_OUT
        elif own.stop > own.start and (of_activities := job.stages.of_activities(device)) is not None:
            activities = device.activities
            communicates = activities.kind == int(Activity.COMMUNICATION)
            communicates &= activities.are_of("kernels")
            # both are the member's communication kernels in order of begin
            stages[own] = of_activities.stage[communicates]
    return stages


def common_stages(stages: Int64Array, table: Int64Array) -> Int64Array:
    """The stage of each instance: that of its operations on all ranks of the job, ``UNASSIGNED`` where they differ."""
    present = (table >= 0) & (stages[table] != LEFT_OUT)
    own = np.where(present, stages[table], UNASSIGNED)
    highest = own.max(axis=1, initial=UNASSIGNED)
    agree = (~present | (own == highest[:, None])).all(axis=1)
    return np.where(agree, highest, UNASSIGNED)


def stage_of_code(code: int) -> Stage | None:
    """The stage behind a code, None for ``UNASSIGNED``."""
    return None if code == UNASSIGNED else STAGES[code]
