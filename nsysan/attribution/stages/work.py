"""The work of a device in the order in which it was launched, with what its calls and kernels say about it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nsysan.attribution.activities import Activities
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

_REDUCES_GRADIENTS = frozenset({Collective.ALL_REDUCE, Collective.REDUCE_SCATTER, Collective.REDUCE})


class OrderedWork(Table, frozen=True):
    """Activities of one device in order of launch; without a call in order of their start.

    ``activity`` is the position among the device's activities. ``hint`` is forward or backward where the kernel's name
    says so. ``way`` is a number for a stream and a kind of collective, equal where both are.
    """

    activity: Int64Array
    call: Int64Array
    launched_ns: Int64Array
    global_tid: Int64Array
    is_communication: BoolArray
    may_reduce_gradients: BoolArray
    is_batch_copy: BoolArray
    is_optimizer: BoolArray
    separates: BoolArray
    is_loss: BoolArray
    hint: IdArray
    way: IdArray


def ordered_work(activities: Activities, host: Host) -> OrderedWork:
    """The work with what is known of it; ``activities`` are those of one device."""
    call = host.launches.of(activities)
    called = call != NO_CALL
    safe = np.where(called, call, 0)
    calls = host.calls
    traits = _KernelTraits(activities, host.trace)
    found = OrderedWork(
        activity=np.arange(len(activities)),
        call=call,
        launched_ns=np.where(called, calls.start_ns[safe], activities.start_ns) if len(calls) else activities.start_ns,
        global_tid=np.where(called, calls.global_tid[safe], ABSENT) if len(calls) else np.full(len(call), ABSENT),
        is_communication=activities.kind == int(Activity.COMMUNICATION),
        may_reduce_gradients=traits.where(lambda name: classify(name).collective in _REDUCES_GRADIENTS),
        is_batch_copy=_is_batch_copy(activities, host.trace),
        is_optimizer=traits.where(lambda name: classify(name).kernel_class is KernelClass.OPTIMIZER),
        # what runs inside a graph is unknown, so it may be anything
        separates=traits.where(lambda name: classify(name).kernel_class in OF_LAYERS)
        | (activities.kind == int(Activity.GRAPH)),
        is_loss=traits.where(is_loss),
        hint=traits.hints(),
        way=traits.ways(),
    )
    return found.take(order_of(found.launched_ns))


class _KernelTraits:
    """What the names of kernels say, a value for each activity; what is no kernel has none."""

    def __init__(self, activities: Activities, trace: Trace) -> None:
        kernels = trace.kernels or Kernels(*[np.empty(0, np.int64)] * 8)
        self._count = len(activities)
        self._places = np.flatnonzero(activities.are_of("kernels"))
        rows = activities.row[self._places]
        self._stream = codes_of(kernels.context_id[rows], kernels.stream_id[rows])
        name_ids, self._name_of = coded(kernels.name_id[rows])
        self._names = [trace.text(name_id) for name_id in name_ids.tolist()]

    def where(self, says: Callable[[str], bool]) -> BoolArray:
        """Which activities are kernels whose name says so."""
        found = np.zeros(self._count, np.bool_)
        found[self._places] = np.array([says(name) for name in self._names], np.bool_)[self._name_of]
        return found

    def hints(self) -> IdArray:
        """Forward or backward, as a stage code."""
        stages = [None if _is_communication(name) else stage_of_operator(name) for name in self._names]
        codes = np.array([UNASSIGNED if stage is None else code_of(stage) for stage in stages], np.int8)
        found = np.full(self._count, UNASSIGNED, np.int8)
        found[self._places] = codes[self._name_of]
        return found

    def ways(self) -> IdArray:
        """Streams and kinds of collectives, counted from 0; what is no kernel shares a number with others."""
        collectives = list(Collective)
        kinds = [classify(name).collective for name in self._names]
        kind_codes = np.array([UNASSIGNED if kind is None else collectives.index(kind) for kind in kinds], np.int64)
        found = np.zeros(self._count, np.int64)
        found[self._places] = codes_of(self._stream, kind_codes[self._name_of])
        return found


def _is_communication(name: str) -> bool:
    return classify(name).activity is Activity.COMMUNICATION


def _is_batch_copy(activities: Activities, trace: Trace) -> BoolArray:
    found = np.zeros(len(activities), np.bool_)
    if trace.copies is not None:
        places = np.flatnonzero(activities.are_of("copies"))
        found[places] = trace.copies.copy_kind[activities.row[places]] == CopyKind.HOST_TO_DEVICE
    return found
