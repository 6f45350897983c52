"""Steps on a device: they tile its time from the first kernel of one step to the first of the next."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.host import Host
from nsysan.attribution.kernel_class import classify
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.steps.markers import Markers
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import coded, summed
from nsysan.model.kernels import OF_LAYERS, KernelClass
from nsysan.model.partition import Activity
from nsysan.model.tables import Kernels
from nsysan.model.thresholds import FEWEST_BURSTS, SIMILAR_BURST_FRAC
from nsysan.model.trace import Trace
from nsysan.timeline.labelling import NOBODY, Labelling
from nsysan.timeline.ordering import order_of


class DeviceSteps(msgspec.Struct, frozen=True, eq=False):
    """The closed steps of a device, which leave no time between them.

    Step ``i`` is ``[bounds_ns[i], bounds_ns[i + 1])``; the last bound is where the open step begins. ``name_id`` is of
    each step's marker, empty where none marks them.
    """

    bounds_ns: Int64Array
    name_id: Int64Array

    def __len__(self) -> int:
        return len(self.bounds_ns) - 1

    @property
    def durations_ns(self) -> Int64Array:
        """The length of each step."""
        return np.diff(self.bounds_ns)

    def labelling(self) -> Labelling:
        """The number of the step at each moment."""
        return Labelling(self.bounds_ns, np.append(np.arange(len(self)), NOBODY))

    def inside(self, start_ns: int, end_ns: int) -> DeviceSteps | None:
        """The steps that lie wholly in a window, None where there is none."""
        kept = np.flatnonzero((self.bounds_ns >= start_ns) & (self.bounds_ns <= end_ns))
        if len(kept) <= 1:
            return None
        names = self.name_id[kept[:-1]] if len(self.name_id) else self.name_id
        return DeviceSteps(self.bounds_ns[kept], names)


def marked_steps(activities: Activities, host: Host, markers: Markers) -> DeviceSteps | None:
    """The steps between markers, None where fewer than two markers have a kernel.

    Step k begins with the first kernel on the main compute stream whose call begins inside marker k, on any thread. A
    marker without such a kernel belongs to the step before.
    """
    kernels, rows = _on_main_stream(activities, host.trace)
    calls = host.launches.rows["kernels"][rows] if len(rows) else rows
    called = calls != NO_CALL
    call_ns, start_ns = host.calls.start_ns[calls[called]], kernels.start_ns[rows[called]]
    order = np.argsort(call_ns, kind="stable")
    call_ns, start_ns = call_ns[order], start_ns[order]
    first = np.searchsorted(call_ns, markers.start_ns)
    has_kernel = first < np.searchsorted(call_ns, markers.end_ns)
    return _steps(start_ns[first[has_kernel]], markers.name_id[has_kernel])


def heuristic_steps(activities: Activities, trace: Trace) -> DeviceSteps | None:
    """The steps of a periodic sequence of kernels, None where there is no such period.

    A period holds one burst of optimizer kernels, and the next step begins with the first kernel after it. Bursts are
    apart where forward or backward kernels ran in between. At least three bursts, and as many kernels in most periods,
    up to 5 %.
    """
    kernels, rows = _on_main_stream(activities, trace)
    if not len(rows):
        return None
    rows = rows[order_of(kernels.start_ns[rows])]
    name_ids, name_of = coded(kernels.name_id[rows])
    classes = [classify(trace.text(name_id)).kernel_class for name_id in name_ids.tolist()]
    is_optimizer = np.array([found is KernelClass.OPTIMIZER for found in classes])[name_of]
    separates = np.array([found in OF_LAYERS for found in classes])[name_of]
    after_burst = _burst_ends(is_optimizer, separates)
    if len(after_burst) < FEWEST_BURSTS or not _is_periodic(np.diff(after_burst)):
        return None
    return _steps(kernels.start_ns[rows[after_burst]], np.empty(0, np.int64))


def _burst_ends(is_optimizer: np.ndarray, separates: np.ndarray) -> Int64Array:
    """The position after each burst, where there is a kernel after it."""
    optimizers = np.flatnonzero(is_optimizer)
    if not len(optimizers):
        return optimizers
    separated = np.cumsum(separates)[optimizers]
    last_of_burst = np.append(np.diff(separated) > 0, [True])
    after = optimizers[last_of_burst] + 1
    inside: Int64Array = after[after < len(is_optimizer)]
    return inside


def _is_periodic(kernel_counts: Int64Array) -> bool:
    median = float(np.median(kernel_counts))
    similar = np.abs(kernel_counts - median) <= SIMILAR_BURST_FRAC * median
    return bool(2 * similar.sum() > len(kernel_counts))


def _steps(starts_ns: Int64Array, name_id: Int64Array) -> DeviceSteps | None:
    # kernels of one stream start in the order of their calls; a start that does not is damage
    forward = np.concatenate([[True], starts_ns[1:] > np.maximum.accumulate(starts_ns)[:-1]])[: len(starts_ns)]
    starts_ns = starts_ns[forward]
    if len(starts_ns) <= 1:
        return None
    return DeviceSteps(starts_ns, name_id[forward][:-1] if len(name_id) else name_id)


def _on_main_stream(activities: Activities, trace: Trace) -> tuple[Kernels, IdArray]:
    """The kernels, and the rows of those on the stream that computes most; no rows where nothing computes."""
    kernels = trace.kernels or Kernels(*[np.empty(0, np.int64)] * 8)
    own = activities.are_of("kernels")
    rows, computes = activities.row[own], activities.kind[own] == int(Activity.COMPUTE)
    if not computes.any():
        return kernels, rows[:0]
    stream_of = codes_of(kernels.context_id[rows], kernels.stream_id[rows])
    lengths_ns = np.where(computes, kernels.end_ns[rows] - kernels.start_ns[rows], 0)
    times_ns = summed(lengths_ns, stream_of, int(stream_of.max()) + 1)
    return kernels, rows[stream_of == times_ns.argmax()]
