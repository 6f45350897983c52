"""The stage of every piece of a device's work, and what tells it."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.stages.codes import UNASSIGNED, code_of, source_of
from nsysan.attribution.stages.order import gradient_reductions, stages_by_order
from nsysan.attribution.stages.ranges import ProcessRanges
from nsysan.attribution.stages.work import OrderedWork
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.stages import Stage, StageSource
from nsysan.model.tables import ABSENT, Table

# in one byte, and so is then what is made of them
_RANGES, _KERNELS, _ORDER = (np.int8(source_of(source)) for source in StageSource)
_DATA, _COPY, _FORWARD, _BACKWARD, _GRADIENTS, _OPTIMIZER, _OTHER = (np.int8(code_of(stage)) for stage in Stage)
_IN_A_RUN = (_FORWARD, _BACKWARD, _OPTIMIZER)


class WorkStages(Table, frozen=True):
    """Stage and source of each piece of work, as codes; both ``UNASSIGNED`` where the stage is not known."""

    stage: IdArray
    source: IdArray

    def or_else(self, stage: IdArray, source: np.int8) -> WorkStages:
        """Where nothing is known yet, these stages; ``UNASSIGNED`` leaves it so."""
        open_ = (self.stage == UNASSIGNED) & (stage != UNASSIGNED)
        return WorkStages(np.where(open_, stage, self.stage), np.where(open_, source, self.source))

    def placed(self, places: Int64Array) -> WorkStages:
        """The same with each row at its place, a number below their count that no other one has."""
        columns = {name: np.empty_like(column) for name, column in self.columns().items()}
        for name, column in self.columns().items():
            columns[name][places] = column
        return WorkStages(**columns)

    def but(self, where: BoolArray, stage: np.int8, source: np.int8) -> WorkStages:
        """The same with one stage in some places."""
        return WorkStages(np.where(where, stage, self.stage), np.where(where, source, self.source))


def stages_of_work(work: OrderedWork, ranges: ProcessRanges, main_tid: int, step: Int64Array) -> WorkStages:
    """The stage of each piece of work, in the order of launch.

    Ranges around the call come first. Where a program names every phase, what is in none is ``other``; else kernels
    tell, then the order of launch. ``main_tid`` is the thread that runs the steps, ``step`` the number of the step in
    which each work was launched.
    """
    found = _by_ranges(work, ranges, main_tid)
    anchors = np.where(work.is_communication | work.is_batch_copy, UNASSIGNED, found.stage)
    if ranges.names_every_phase:
        in_none = np.where(work.is_batch_copy, _COPY, _OTHER)
        found = found.or_else(np.where(work.global_tid == ABSENT, UNASSIGNED, in_none), _RANGES)
    else:
        backward = _on_backward_threads(work, main_tid)
        told = _by_kernels(work, ranges, backward)
        found = found.or_else(told, _KERNELS)
        anchors = np.where(anchors == UNASSIGNED, np.where(work.is_communication, UNASSIGNED, told), anchors)
        found = _copies_of_batches(found.or_else(stages_by_order(work, anchors, step, backward), _ORDER), work)
    reduces = gradient_reductions(work, found.stage, anchors) & ~(found.stage == _GRADIENTS)
    return found.but(reduces, _GRADIENTS, _KERNELS)


def _by_ranges(work: OrderedWork, ranges: ProcessRanges, main_tid: int) -> WorkStages:
    """By the ranges of the launching thread, else by those that the main thread is in meanwhile: it waits for others.

    A thread that copies batches in advance waits for nobody, and nobody for it.
    """
    stage = np.full(len(work), UNASSIGNED, np.int8)
    for global_tid in _threads(work):
        of_thread = np.flatnonzero(work.global_tid == global_tid)
        stage[of_thread] = ranges.phases(global_tid).at(work.launched_ns[of_thread])
    others = np.flatnonzero((stage == UNASSIGNED) & (work.global_tid != main_tid) & ~work.is_batch_copy)
    stage[others] = ranges.phases(main_tid).at(work.launched_ns[others])
    stage[work.is_batch_copy & ((stage == _DATA) | (stage == _OTHER))] = _COPY
    return WorkStages(stage, np.where(stage == UNASSIGNED, UNASSIGNED, _RANGES))


def _threads(work: OrderedWork) -> list[int]:
    """The threads that launched work."""
    return [global_tid for global_tid in distinct(work.global_tid).tolist() if global_tid != ABSENT]


def _on_backward_threads(work: OrderedWork, main_tid: int) -> BoolArray:
    """Which works other threads than the main one launched that multiply: autograd's own, where the main one does too.

    A job that multiplies on one thread has no such thread.
    """
    multiplying = _multiplying_threads(work)
    if main_tid not in multiplying.tolist():
        return np.zeros(len(work), np.bool_)
    return np.isin(work.global_tid, multiplying[multiplying != main_tid])


def _multiplying_threads(work: OrderedWork) -> Int64Array:
    return distinct(work.global_tid[work.separates & (work.global_tid != ABSENT)])


def _by_kernels(work: OrderedWork, ranges: ProcessRanges, backward: BoolArray) -> IdArray:
    """By the name of an optimizer's kernel, by a thread that runs backwards, by the name of an operator or kernel."""
    told = np.where(work.is_communication, UNASSIGNED, work.hint)
    for global_tid in _threads(work):
        of_thread = np.flatnonzero((work.global_tid == global_tid) & ~work.is_communication)
        by_operator = ranges.operators(global_tid).at(work.launched_ns[of_thread])
        told[of_thread] = np.where(by_operator == UNASSIGNED, told[of_thread], by_operator)
    told[backward] = _BACKWARD
    told[work.is_optimizer] = _OPTIMIZER
    told[work.is_batch_copy] = UNASSIGNED
    return told


def _copies_of_batches(found: WorkStages, work: OrderedWork) -> WorkStages:
    """Copies to the device bring the batch, but for those that a thread launches among its work of one stage."""
    multiplies = np.isin(work.global_tid, _multiplying_threads(work)) | (work.global_tid == ABSENT)
    among = np.isin(found.stage, _IN_A_RUN) & (multiplies | (found.source == _RANGES))
    return found.but(work.is_batch_copy & ~among, _COPY, _KERNELS)
