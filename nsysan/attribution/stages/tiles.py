"""The time of a device and of its host in stages: each nanosecond of a step belongs to one, or to none."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.host import Host
from nsysan.attribution.idle.codes import code_of as code_of_cause
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.stages.codes import SOURCES, STAGES, UNASSIGNED, code_of, source_of
from nsysan.attribution.stages.ranges import ProcessRanges
from nsysan.attribution.stages.work import OrderedWork
from nsysan.attribution.stages.work_stages import WorkStages
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.idle import Cause
from nsysan.model.partition import Activity, Part
from nsysan.model.stages import Stage, StageSource
from nsysan.timeline.labelling import NOBODY, Labelling, first_come, overlaid
from nsysan.timeline.occupancy import Occupancy

NOT_ASSIGNED = len(STAGES) * len(SOURCES)
"""The last label: the time of work of no known stage. The others are stage x sources + source."""
LABEL_COUNT = NOT_ASSIGNED + 1
_IN_ORDER = (Activity.COMPUTE, Activity.FUSED, Activity.GRAPH, Activity.COMMUNICATION, Activity.COPY)
"""Of work that runs at once, the kind that gives a moment its part gives it its stage."""


def device_stages(activities: Activities, work: OrderedWork, found: WorkStages, idle: IdlePieces | None) -> Labelling:
    """The label of each moment from the first work of a device to its last.

    Of works at once the kind that gives the moment its part counts, of a kind the one that began first. Idle time
    belongs with the work that ends it, but for what data loading caused.
    """
    labels = np.empty(len(activities), np.int64)
    labels[work.activity] = _labels(found)
    layers = []
    for kind in _IN_ORDER:
        rows = np.flatnonzero(activities.kind == int(kind))
        layers.append(first_come(activities.start_ns[rows], activities.end_ns[rows]).relabelled(labels[rows]))
    busy = _with_gaps(overlaid(layers))
    return busy if idle is None else overlaid([_data_loading(idle), busy])


def step_stages_ns(steps: DeviceSteps, stages: Labelling, occupancy: Occupancy) -> Int64Array:
    """The time of each part (last axis) in each label (middle) of each step (first): the sums tile the steps."""
    first_ns, last_ns = steps.bounds_ns[0], steps.bounds_ns[-1]
    edges_ns = np.concatenate([steps.bounds_ns, stages.bounds_ns, occupancy.bounds_ns])
    edges_ns = distinct(edges_ns[(edges_ns >= first_ns) & (edges_ns <= last_ns)])
    begins_ns = edges_ns[:-1]
    label = stages.at(begins_ns)
    label = np.where(label == NOBODY, NOT_ASSIGNED, label)
    part = occupancy.parts[np.searchsorted(occupancy.bounds_ns, begins_ns, side="right") - 1]
    place = (steps.labelling().at(begins_ns) * LABEL_COUNT + label) * len(Part) + part
    times_ns = np.zeros(len(steps) * LABEL_COUNT * len(Part), np.int64)
    np.add.at(times_ns, place, np.diff(edges_ns))
    return times_ns.reshape(len(steps), LABEL_COUNT, len(Part))


def host_bounds_ns(steps: DeviceSteps, activities: Activities, work: OrderedWork) -> Int64Array | None:
    """When the first kernel of each step was launched, and that after the last; None where no call launched one."""
    start_ns = activities.start_ns[work.activity]
    called = np.flatnonzero(work.call != NO_CALL)
    order = called[np.argsort(start_ns[called], kind="stable")]
    places = np.searchsorted(start_ns[order], steps.bounds_ns)
    if not len(order) or (places == len(order)).any() or (start_ns[order][places] != steps.bounds_ns).any():
        return None
    launched_ns: Int64Array = np.maximum.accumulate(work.launched_ns[order][places])
    return launched_ns


def host_stages(work: OrderedWork, found: WorkStages, host: Host, ranges: ProcessRanges, main_tid: int) -> Labelling:
    """The stage code of each moment of the host: that of the range the main thread is in, else of the next launch.

    Launches are those of all threads. ``NOT_ASSIGNED`` where the next launch is of no known stage.
    """
    called = np.flatnonzero(work.call != NO_CALL)
    ends_ns = np.maximum.accumulate(host.calls.end_ns[work.call[called]])
    starts_ns = np.concatenate([work.launched_ns[called][:1], ends_ns[:-1]])
    stage = found.stage[called].astype(np.int64)
    launches = first_come(starts_ns, ends_ns).relabelled(np.where(stage == UNASSIGNED, NOT_ASSIGNED, stage))
    return overlaid([ranges.phases(main_tid), launches])


def step_host_ns(bounds_ns: Int64Array, stages: Labelling) -> Int64Array:
    """The host's time in each stage (columns, the last for none) of each step (rows)."""
    pieces = stages.pieces(bounds_ns[:-1], bounds_ns[1:])
    column = np.where(np.isin(pieces.labels, range(len(STAGES))), pieces.labels, len(STAGES))
    times_ns = np.zeros((len(bounds_ns) - 1, len(STAGES) + 1), np.int64)
    np.add.at(times_ns, (pieces.asked, column), pieces.end_ns - pieces.start_ns)
    return times_ns


def _labels(found: WorkStages) -> Int64Array:
    labels = found.stage.astype(np.int64) * len(SOURCES) + found.source
    return np.where(found.stage == UNASSIGNED, NOT_ASSIGNED, labels)


def _with_gaps(busy: Labelling) -> Labelling:
    """The same with each gap labelled as what comes after it."""
    known = busy.labels != NOBODY
    places = np.where(known, np.arange(len(known)), len(known))
    following = np.minimum.accumulate(places[::-1])[::-1]
    return Labelling(busy.bounds_ns, np.append(busy.labels, NOBODY)[following])


def _data_loading(idle: IdlePieces) -> Labelling:
    rows = np.flatnonzero(idle.cause == code_of_cause(Cause.DATA_LOADING))
    label = code_of(Stage.DATA) * len(SOURCES) + source_of(StageSource.RANGES)
    found = first_come(idle.start_ns[rows], idle.end_ns[rows])
    return found.relabelled(np.full(len(rows), label))
