"""Which stage of the step each operation of a collective belongs to."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nsysan.attribution.collectives.job_collectives import JobCollectives
from nsysan.attribution.device_communication import DeviceCommunication
from nsysan.attribution.stages.codes import STAGES, UNASSIGNED
from nsysan.model.arrays import Int64Array
from nsysan.model.stages import Stage

LEFT_OUT = -2
"""In place of the stage of a device that is left out of the job."""


def stages_of_operations(found: JobCollectives, told: Mapping[str, DeviceCommunication]) -> Int64Array:
    """The code of each operation's stage; ``UNASSIGNED`` without steps, and where nothing tells.

    ``told`` is of the job's devices, by their ids.
    """
    stages = np.full(len(found.operations), UNASSIGNED, np.int64)
    for place, member in enumerate(found.members):
        of_device, own = told.get(member.id), found.rows_of(place)
        if of_device is None:
            stages[own] = LEFT_OUT
        elif own.stop > own.start and of_device.stages is not None:
            # both are the member's communication kernels in order of begin
            stages[own] = of_device.stages
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
