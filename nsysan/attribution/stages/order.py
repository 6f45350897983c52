"""The stage of work that nothing names, by the work that was launched before and after it."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.stages.codes import UNASSIGNED, code_of
from nsysan.attribution.stages.work import OrderedWork
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.stages import Stage

_FORWARD, _BACKWARD, _OPTIMIZER = (code_of(stage) for stage in (Stage.FORWARD, Stage.BACKWARD, Stage.OPTIMIZER))
_NOWHERE = -1


class Neighbours(msgspec.Struct, frozen=True, eq=False):
    """For each work the known work before and after it in the order of launch, itself where it is known.

    ``before`` and ``after`` are positions, or -1 and the number of works; the stages there are ``UNASSIGNED`` where
    there is none. After the loss the backward begins.
    """

    before: Int64Array
    after: Int64Array
    stage_before: IdArray
    stage_after: IdArray

    @classmethod
    def of(cls, work: OrderedWork, stages: IdArray) -> Neighbours:
        """The neighbours, where ``stages`` are those that are known and may tell what their neighbours are."""
        positions, known = np.arange(len(work)), stages != UNASSIGNED
        before = np.maximum.accumulate(np.where(known, positions, _NOWHERE))
        after = np.minimum.accumulate(np.where(known, positions, len(work))[::-1])[::-1]
        return cls.at(work, stages, before, after)

    @classmethod
    def of_some(cls, work: OrderedWork, stages: IdArray, asked: Int64Array) -> Neighbours:
        """The neighbours of these works, whose positions ascend."""
        known = np.concatenate([[_NOWHERE], np.flatnonzero(stages != UNASSIGNED), [len(work)]])
        before = known[np.searchsorted(known, asked, side="right") - 1]
        return cls.at(work, stages, before, known[np.searchsorted(known, asked)])

    @classmethod
    def at(cls, work: OrderedWork, stages: IdArray, before: Int64Array, after: Int64Array) -> Neighbours:
        """The neighbours at these positions."""
        # the position -1 reads the last, and so does the one after all
        stage_before, stage_after = (np.append(stages, np.int8(UNASSIGNED))[places] for places in (before, after))
        ends_forward = (stage_before == _FORWARD) & np.append(work.is_loss, [False])[before]
        return cls(before, after, np.where(ends_forward, np.int8(_BACKWARD), stage_before), stage_after)


def stages_by_order(work: OrderedWork, known: IdArray, step: Int64Array, backward: BoolArray) -> IdArray:
    """The stage of each work by its neighbours, ``UNASSIGNED`` where these leave several.

    ``known`` are the stages that are known, ``step`` the number of the step in which each work was launched,
    ``backward`` says which works threads launched that run backwards and nothing else; where there are none, kernels
    alone tell where a backward begins.
    """
    near = Neighbours.of(work, known)
    separated = _between(work.separates, near)
    same_step = _padded(step)[near.before] == _padded(step)[near.after]
    one = near.stage_before == near.stage_after
    has_thread = bool(backward.any())
    # what the main thread multiplies between two backwards is the forward of another part of the batch
    again = one & (near.stage_before == _BACKWARD) & separated & has_thread
    inside = one & same_step & ~((near.stage_before == _OPTIMIZER) & separated)
    # a copy to the device at the begin of a step brings the batch
    begins = np.isin(near.stage_before, (_OPTIMIZER, UNASSIGNED)) & ~work.is_batch_copy
    into_forward = begins & (near.stage_after == _FORWARD)
    up_to_backward = (begins | (near.stage_before == _FORWARD)) & (near.stage_after == _BACKWARD) & has_thread
    tail = (near.stage_before == _BACKWARD) & (near.stage_after == _OPTIMIZER)
    last_separator = _last(work.separates)[near.after]
    last_reduction = _last(work.may_reduce_gradients)[near.after]
    position = np.arange(len(work))
    reduced = last_reduction > near.before
    return np.select(
        (
            again | into_forward | up_to_backward,
            inside,
            tail & work.may_reduce_gradients,
            tail & has_thread,
            tail & ((position <= last_separator) | (reduced & (position <= last_reduction))),
            tail & reduced,
        ),
        (_FORWARD, near.stage_before, _BACKWARD, _OPTIMIZER, _BACKWARD, _OPTIMIZER),
        UNASSIGNED,
    ).astype(np.int8)


def gradient_reductions(work: OrderedWork, stages: IdArray, known: IdArray) -> BoolArray:
    """Which works reduce gradients: collectives that can, launched by the backward or between it and the optimizer.

    On the same stream the same kind must not run in the forward: there it sums activations, and so it does backwards.
    ``known`` are the stages of those that tell what is before and after a work.
    """
    asked = np.flatnonzero(work.may_reduce_gradients)
    near, own, way = Neighbours.of_some(work, known, asked), stages[asked], work.way[asked]
    between = (near.stage_before == _BACKWARD) & np.isin(near.stage_after, (_OPTIMIZER, _FORWARD))
    late = np.isin(own, (UNASSIGNED, code_of(Stage.OTHER))) & between
    forward_ways = np.zeros(int(way.max(initial=0)) + 1, np.bool_)
    forward_ways[way[own == _FORWARD]] = True
    reduces = np.zeros(len(work), np.bool_)
    reduces[asked] = ((own == _BACKWARD) | late) & ~forward_ways[way]
    return reduces


def _between(chosen: BoolArray, near: Neighbours) -> BoolArray:
    """Whether any of the chosen works lies between the neighbours."""
    counts = np.concatenate([[0], np.cumsum(chosen)])
    found: BoolArray = counts[np.minimum(near.after, len(chosen))] > counts[near.before + 1]
    return found


def _last(chosen: BoolArray) -> Int64Array:
    """For each position, and the one after all, the last of the chosen ones before it."""
    positions = np.where(chosen, np.arange(len(chosen)), _NOWHERE)
    return np.concatenate([[_NOWHERE], np.maximum.accumulate(positions)])


def _padded(step: Int64Array) -> Int64Array:
    # the position -1 and the one after all read the last
    return np.append(step, np.iinfo(np.int64).min)
