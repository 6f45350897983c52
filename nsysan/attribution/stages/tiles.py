"""The time of a device and of its host in stages: each nanosecond of a step belongs to one, or to none."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.host import Host
from nsysan.attribution.idle.codes import code_of as code_of_cause
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.stages.codes import SOURCES, STAGES, UNASSIGNED, code_of, source_of
from nsysan.attribution.stages.work import LaunchedWork
from nsysan.attribution.stages.work_stages import WorkStages
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.idle import Cause
from nsysan.model.partition import Activity, Part
from nsysan.model.stages import Stage, StageSource
from nsysan.timeline.joint_times import joint_times
from nsysan.timeline.labelling import NOBODY, Labelling, first_come
from nsysan.timeline.layers import topmost
from nsysan.timeline.occupancy import Occupancy

NOT_ASSIGNED = len(STAGES) * len(SOURCES)
"""The last label: the time of work of no known stage. The others are stage x sources + source."""
_IN_ORDER = (Activity.COMPUTE, Activity.FUSED, Activity.GRAPH, Activity.COMMUNICATION, Activity.COPY)
"""Of work that runs at once, the kind that gives a moment its part gives it its stage."""
_LAYER_OF_KIND = np.zeros(max(_IN_ORDER) + 1, np.int8)
_LAYER_OF_KIND[list(_IN_ORDER)] = range(len(_IN_ORDER))
_LABEL_OF_LOADING = code_of(Stage.DATA) * len(SOURCES) + source_of(StageSource.RANGES)
"""The label of idle time that data loading caused."""
_IDLE = list(Part).index(Part.IDLE)


def device_stages(activities: Activities, found: WorkStages) -> Labelling:
    """The label of each moment from the first work of a device to its last; ``found`` is of each of its activities.

    Of works at once the kind that gives the moment its part counts, of a kind the one that began first. Idle time
    belongs with the work that ends it.
    """
    busy = topmost(activities.start_ns, activities.end_ns, _LAYER_OF_KIND[activities.kind], len(_IN_ORDER))
    labels = np.append(_labels(found), NOBODY)[busy.labels]
    gaps = np.flatnonzero(labels[:-1] == NOBODY)
    labels[gaps] = labels[gaps + 1]
    return Labelling(busy.bounds_ns, labels)


def step_stages_ns(steps: DeviceSteps, stages: Labelling, occupancy: Occupancy, idle: IdlePieces | None) -> Int64Array:
    """The time of each part (last axis) in each label (middle) of each step (first): the sums tile the steps.

    What data loading caused of the idle time belongs to it, whatever work ends it.
    """
    parts = Labelling(occupancy.bounds_ns, np.append(occupancy.parts, NOBODY))
    times_ns = joint_times(steps.bounds_ns, stages, parts, (NOT_ASSIGNED, len(Part)))[:, :, : len(Part)]
    loading = None if idle is None else _data_loading(idle)
    if loading is not None and len(loading.bounds_ns):
        moved_ns = joint_times(steps.bounds_ns, loading, stages, (1, NOT_ASSIGNED))[:, 0]
        times_ns[:, :, _IDLE] -= moved_ns
        times_ns[:, _LABEL_OF_LOADING, _IDLE] += moved_ns.sum(axis=1)
    return times_ns


def host_bounds_ns(steps: DeviceSteps, activities: Activities, host: Host) -> Int64Array | None:
    """When the first kernel of each step was launched, and that after the last; None where no call launched one.

    ``activities`` are all of the device.
    """
    first = np.searchsorted(activities.start_ns, steps.bounds_ns)
    counts = np.searchsorted(activities.start_ns, steps.bounds_ns, side="right") - first
    step = np.repeat(np.arange(len(first)), counts)
    begun = np.arange(len(step)) + np.repeat(first - np.cumsum(counts) + counts, counts)
    call = host.launches.of(activities.take(begun))
    step, call = step[call != NO_CALL], call[call != NO_CALL]
    if len(distinct(step)) < len(first):
        return None
    launched_ns = np.full(len(first), np.iinfo(np.int64).max)
    np.minimum.at(launched_ns, step, host.calls.start_ns[call])
    found: Int64Array = np.maximum.accumulate(launched_ns)
    return found


def step_host_ns(bounds_ns: Int64Array, phases: Labelling, launches: Labelling) -> Int64Array:
    """The host's time in each stage (columns, the last for none) of each step (rows).

    A moment is of the phase that the main thread is in, where it is in none of the stage that is launched next.
    """
    times_ns = joint_times(bounds_ns, phases, launches, (len(STAGES), len(STAGES)))
    host_ns: Int64Array = times_ns.sum(axis=2)
    host_ns[:, -1] = 0
    host_ns += times_ns[:, -1]
    return host_ns


def launched_stages(work: LaunchedWork, found: WorkStages, host: Host) -> Labelling:
    """The stage code of the next launch at each moment; ``NOBODY`` where it is of no known stage, or there is none.

    ``found`` is of each of the device's activities.
    """
    called = np.flatnonzero(work.call != NO_CALL)
    ends_ns = np.maximum.accumulate(host.calls.end_ns[work.call[called]])
    edges_ns = np.concatenate([work.launched_ns[called][:1], ends_ns])
    solid = np.flatnonzero(edges_ns[1:] > edges_ns[:-1])
    stages = found.stage[work.activity[called[solid]]]
    return Labelling(np.append(edges_ns[solid], edges_ns[-1:]), np.append(stages, np.full(len(edges_ns[-1:]), NOBODY)))


def _labels(found: WorkStages) -> IdArray:
    labels = found.stage * np.int8(len(SOURCES)) + found.source
    return np.where(found.stage == UNASSIGNED, np.int8(NOT_ASSIGNED), labels)


def _data_loading(idle: IdlePieces) -> Labelling:
    """When data loading is what makes the device idle, with the label 0."""
    rows = np.flatnonzero(idle.cause == code_of_cause(Cause.DATA_LOADING))
    return first_come(idle.start_ns[rows], idle.end_ns[rows]).relabelled(np.zeros(len(rows), np.int64))
