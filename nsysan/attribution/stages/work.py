"""The work of a device in the order in which it was launched, with what its calls and kernels say about it."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.activities import SOURCES, Activities
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.host import Host
from nsysan.attribution.kernel_class import classify
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.stages.codes import UNASSIGNED, code_of
from nsysan.attribution.stages.names import is_loss, stage_of_operator
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.copies import CopyKind
from nsysan.model.distinct import coded
from nsysan.model.kernels import OF_LAYERS, Collective, KernelClass
from nsysan.model.partition import Activity
from nsysan.model.tables import ABSENT, Kernels, Table
from nsysan.model.trace import Trace
from nsysan.timeline.ordering import order_of

_MAY_REDUCE, _IS_OPTIMIZER, _SEPARATES, _IS_LOSS = (1 << bit for bit in range(4))
_REDUCES_GRADIENTS = frozenset({Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.REDUCE})


class LaunchedWork(Table, frozen=True):
    """Activities of one device in order of launch; without a call in order of their start.

    ``activity`` is the position among the device's activities.
    """

    activity: Int64Array
    call: Int64Array
    launched_ns: Int64Array
    global_tid: Int64Array


class OrderedWork(LaunchedWork, frozen=True):
    """The same with what is known of it.

    ``hint`` is forward or backward where the kernel's name says so. ``way`` is a number for a stream and a kind of
    collective, equal where both are, of what may reduce gradients.
    """

    is_communication: BoolArray
    may_reduce_gradients: BoolArray
    is_batch_copy: BoolArray
    is_optimizer: BoolArray
    separates: BoolArray
    is_loss: BoolArray
    hint: IdArray
    way: IdArray


def launched_work(activities: Activities, host: Host) -> LaunchedWork:
    """The work in order of launch; ``activities`` are those of one device."""
    call, launched_ns = host.launches.of(activities), activities.start_ns
    called = call != NO_CALL
    if called.any():
        launched_ns = host.calls.start_ns[call]
        launched_ns[~called] = activities.start_ns[~called]
    order = order_of(launched_ns)
    call = call[order]
    return LaunchedWork(order, call, launched_ns[order], _threads(call, host))


def _threads(call: Int64Array, host: Host) -> Int64Array:
    """The thread that each of these calls is of; ``ABSENT`` where there is no call."""
    if not len(host.calls):
        return np.full(len(call), ABSENT)
    found: Int64Array = host.calls.global_tid[call]
    found[call == NO_CALL] = ABSENT
    return found


def ordered_work(activities: Activities, host: Host, launched: LaunchedWork) -> OrderedWork:
    """The work with what is known of it."""
    order = launched.activity
    kernels = _KernelTraits(activities.source[order], activities.row[order], host.trace)
    traits, kinds = kernels.traits(), activities.kind[order]
    return OrderedWork(
        **launched.columns(),
        is_communication=kinds == int(Activity.COMMUNICATION),
        may_reduce_gradients=(traits & _MAY_REDUCE) > 0,
        is_batch_copy=_is_batch_copy(activities, host.trace)[order],
        is_optimizer=(traits & _IS_OPTIMIZER) > 0,
        # what runs inside a graph is unknown, so it may be anything
        separates=((traits & _SEPARATES) > 0) | (kinds == int(Activity.GRAPH)),
        is_loss=(traits & _IS_LOSS) > 0,
        hint=kernels.hints(),
        way=kernels.ways(),
    )


class _KernelTraits:
    """What the names of kernels say, a value for each activity; what is no kernel has none."""

    def __init__(self, source: IdArray, row: IdArray, trace: Trace) -> None:
        self._kernels = trace.kernels or Kernels(*[np.empty(0, np.int64)] * 8)
        self._count = len(source)
        self._places = np.flatnonzero(source == SOURCES.index("kernels"))
        self._rows = row[self._places]
        name_ids, self._name_of = coded(self._kernels.name_id[self._rows])
        self._names = [trace.text(name_id) for name_id in name_ids.tolist()]

    def traits(self) -> IdArray:
        """What kernels of the name are and do, as bits."""
        return self._spread(np.array([_traits(name) for name in self._names], np.int8), 0)

    def hints(self) -> IdArray:
        """Forward or backward, as a stage code."""
        stages = [None if _is_communication(name) else stage_of_operator(name) for name in self._names]
        return self._spread(
            np.array([UNASSIGNED if stage is None else code_of(stage) for stage in stages], np.int8), UNASSIGNED
        )

    def ways(self) -> IdArray:
        """Streams and kinds of collectives that may reduce gradients, from 0 on; what is none shares a number."""
        collectives = list(Collective)
        reduces = np.array([(_traits(name) & _MAY_REDUCE) > 0 for name in self._names], np.bool_)
        chosen = np.flatnonzero(reduces[self._name_of])
        kinds = [classify(name).collective for name in self._names]
        kind_codes = np.array([UNASSIGNED if kind is None else collectives.index(kind) for kind in kinds], np.int64)
        rows = self._rows[chosen]
        streams = self._kernels.context_id[rows], self._kernels.stream_id[rows]
        found = np.zeros(self._count, np.int64)
        found[self._places[chosen]] = codes_of(*streams, kind_codes[self._name_of[chosen]])
        return found

    def _spread(self, by_name: IdArray, otherwise: int) -> IdArray:
        """The value of each activity's name."""
        found = np.full(self._count, otherwise, by_name.dtype)
        found[self._places] = by_name[self._name_of]
        return found


def _traits(name: str) -> int:
    kind = classify(name)
    return (
        _MAY_REDUCE * (kind.collective in _REDUCES_GRADIENTS)
        | _IS_OPTIMIZER * (kind.kernel_class is KernelClass.OPTIMIZER)
        | _SEPARATES * (kind.kernel_class in OF_LAYERS)
        | _IS_LOSS * is_loss(name)
    )


def _is_communication(name: str) -> bool:
    return classify(name).activity is Activity.COMMUNICATION


def _is_batch_copy(activities: Activities, trace: Trace) -> BoolArray:
    found = np.zeros(len(activities), np.bool_)
    if trace.copies is not None:
        places = np.flatnonzero(activities.are_of("copies"))
        found[places] = trace.copies.copy_kind[activities.row[places]] == CopyKind.HOST_TO_DEVICE
    return found
