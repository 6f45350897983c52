"""In which shapes each kernel ran: a kernel of one name does much or little, as its grid or its product says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.kernel_summary import KernelSummary
from nsysan.analysis.registry import Analysis
from nsysan.attribution.activities import Activities
from nsysan.attribution.devices import Device
from nsysan.attribution.duration_groups import DurationGroup, GpuDurations, group_over_gpus, windowed_durations
from nsysan.attribution.job import Job
from nsysan.attribution.kernel_work import KernelWork, kernel_work
from nsysan.attribution.steps.steady import judge_steps
from nsysan.model.arrays import Int64Array
from nsysan.model.details import Detail
from nsysan.model.distinct import coded, summed
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import text_hash

NAMES = 100
SHAPES_OF_NAME = 24
"""More shapes of a name are put together: what is launched for whatever comes has one for each batch."""
OTHER_SHAPES = "other shapes"


class KernelShapeRow(msgspec.Struct, frozen=True):
    """The kernels of one name and shape that ran in the windows.

    ``shape`` is ``m x n x k`` of the product where the trace tells it, else grid and block; ``other shapes`` are those
    beyond the 24 with the most time. ``median_ns`` is of whole kernels. What is per step is of the mean steady step,
    mean over the devices that have one, counted as in ``step_kernels``; null where no device has one.
    """

    name: str
    name_hash: str
    shape: str
    count: int
    total_ns: int
    median_ns: float
    runs_per_step: float | None
    time_per_step_ns: float | None


class KernelShapes(msgspec.Struct, frozen=True):
    """The 100 names with the most time in the windows, in their order, each with its shapes, most time first."""

    id: ClassVar[str] = "kernel_shapes"

    kernel_shapes: tuple[KernelShapeRow, ...]

    def figures(self) -> Iterator[Figure]:
        """How long a kernel of each shape takes, and what those of each shape take in the mean step."""
        for row in self.kernel_shapes:
            key, name = f"{row.name_hash}.{row.shape}", f"{row.name}, {row.shape}"
            if row.shape != OTHER_SHAPES:
                yield Figure(KERNEL_SHAPE_MEDIANS, key, name, row.median_ns, Unit.NS, Better.LESS)
                yield Figure(KERNEL_SHAPE_RUNS, key, name, row.count, Unit.COUNT)
            if row.time_per_step_ns is not None and row.runs_per_step:
                whole = f"step_kernels.{row.name_hash}"
                yield Figure(STEP_KERNEL_SHAPES, key, name, row.time_per_step_ns, Unit.NS, Better.LESS, whole)
                yield Figure(STEP_KERNEL_SHAPE_RUNS, key, name, row.runs_per_step, Unit.COUNT)


KERNEL_SHAPE_MEDIANS = Topic("kernel_shape_medians", "Median duration of each kernel in one shape")
KERNEL_SHAPE_RUNS = Topic("kernel_shape_runs", "Runs of each kernel in one shape in the windows")
STEP_KERNEL_SHAPES = Topic("step_kernel_shapes", "Kernel time by shape in the mean steady step, mean over devices")
STEP_KERNEL_SHAPE_RUNS = Topic("step_kernel_shape_runs", "Runs by shape in the mean steady step, mean over devices")


class _Tally(msgspec.Struct):
    """What is known so far, by the place of each kind of work."""

    places: dict[tuple[str, str], int] = msgspec.field(default_factory=dict)
    gpus: list[GpuDurations] = msgspec.field(default_factory=list)
    stepped_count: int = 0
    runs: defaultdict[int, float] = msgspec.field(default_factory=lambda: defaultdict(float))
    times_ns: defaultdict[int, float] = msgspec.field(default_factory=lambda: defaultdict(float))

    def place_of(self, work: KernelWork) -> int:
        """Where this kind of work is counted."""
        return self.places.setdefault((text_hash(work.name), work.shape), len(self.places))


class _Shown(msgspec.Struct, frozen=True):
    """A row to come, and the kinds of work that it puts together."""

    name: str
    name_hash: str
    shape: str
    places: list[int] = msgspec.field(default_factory=list)


def compute_kernel_shapes(job: Job, results: ResultSet) -> KernelShapes | Skipped:
    """The shapes of the kernels with the most time; skipped where kernels are, or where no shape was recorded."""
    summary = results.get(KernelSummary)
    if isinstance(summary, Skipped):
        return Skipped(KernelShapes.id, summary.reason, summary.recapture)
    names = {row.name_hash: row.name for row in summary.kernels[:NAMES]}
    tally = _Tally()
    for gpu_row, gpu in enumerate(job.gpus):
        for device in gpu.devices:
            kernels = _kernels_of(job, device, names)
            works, kinds = kernel_work(job.traces[device.report], job.told_shapes[device.report], kernels.row)
            if works:
                places = np.array([tally.place_of(work) for work in works], np.int64)[kinds]
                window_ns = (int(device.occupancy.bounds_ns[0]), int(device.occupancy.bounds_ns[-1]))
                durations = windowed_durations(kernels, places, gpu_row, window_ns)
                tally.gpus.append(GpuDurations.of(durations, gpu_row))
                _count_steps(tally, job, device, kernels, places)
    rows = _rows(tally, names)
    return (
        KernelShapes(rows) if rows else Skipped(KernelShapes.id, "the trace does not tell the grids of kernels", None)
    )


ANALYSIS = Analysis(
    KernelShapes, compute_kernel_shapes, needs=(KernelSummary,), details=frozenset({Detail.KERNEL_SHAPES})
)


def _count_steps(tally: _Tally, job: Job, device: Device, kernels: Activities, places: Int64Array) -> None:
    """Add the kernels of the device's mean steady step, where it has one."""
    steps = job.steps.of_device(device)[1]
    steady = np.empty(0, np.int64) if steps is None else judge_steps(job, device, steps).steady
    if steps is None or not len(steady):
        return
    tally.stepped_count += 1
    inside = np.isin(steps.labelling().at(kernels.start_ns), steady)
    of_steps, place_of = coded(places[inside])
    counts = np.bincount(place_of, minlength=len(of_steps)).tolist()
    times_ns = summed((kernels.end_ns - kernels.start_ns)[inside], place_of, len(of_steps)).tolist()
    for place, count, time_ns in zip(of_steps.tolist(), counts, times_ns, strict=True):
        tally.runs[place] += count / len(steady)
        tally.times_ns[place] += time_ns / len(steady)


def _kernels_of(job: Job, device: Device, names: Mapping[str, str]) -> Activities:
    """The device's kernels that have one of these names."""
    trace = job.traces[device.report]
    kernels = device.activities.take(device.activities.are_of("kernels"))
    if trace.kernels is None or not len(kernels):
        return kernels
    name_ids, name_of = coded(trace.kernels.name_id[kernels.row])
    is_wanted = np.array([text_hash(trace.text(name_id)) in names for name_id in name_ids.tolist()], np.bool_)
    return kernels if is_wanted.all() else kernels.take(is_wanted[name_of])


def _rows(tally: _Tally, names: Mapping[str, str]) -> tuple[KernelShapeRow, ...]:
    """In the order of the names; what a name has too many shapes for is put together."""
    totals_ns: defaultdict[int, int] = defaultdict(int)
    for gpu in tally.gpus:
        for place, total_ns in zip(gpu.keys.tolist(), gpu.totals_ns.tolist(), strict=True):
            totals_ns[place] += total_ns
    shapes: defaultdict[str, list[tuple[int, str, int]]] = defaultdict(list)
    for (name_hash, shape), place in tally.places.items():
        shapes[name_hash].append((-totals_ns[place], shape, place))
    group_of: dict[int, int] = {}
    shown: dict[int, _Shown] = {}
    for name_hash in filter(shapes.__contains__, names):
        ordered = sorted(shapes[name_hash])
        for number, (_, shape, place) in enumerate(ordered):
            group = group_of[place] = ordered[min(number, SHAPES_OF_NAME)][2]
            is_named = number < SHAPES_OF_NAME
            one = shown.setdefault(group, _Shown(names[name_hash], name_hash, shape if is_named else OTHER_SHAPES))
            one.places.append(place)
    groups = {group.key: group for group in group_over_gpus(tally.gpus, group_of)}
    return tuple(_row(groups[key], one, _per_step(tally, one.places)) for key, one in shown.items() if key in groups)


def _per_step(tally: _Tally, places: Sequence[int]) -> tuple[float, float] | None:
    """Runs and ns a step, mean over the devices that have steps."""
    if not tally.stepped_count:
        return None
    runs, times_ns = (sum(each[place] for place in places) for each in (tally.runs, tally.times_ns))
    return runs / tally.stepped_count, times_ns / tally.stepped_count


def _row(group: DurationGroup, shown: _Shown, per_step: tuple[float, float] | None) -> KernelShapeRow:
    runs, time_ns = per_step or (None, None)
    of_windows = (group.count, group.total_ns, group.median_ns)
    return KernelShapeRow(shown.name, shown.name_hash, shown.shape, *of_windows, runs, time_ns)
