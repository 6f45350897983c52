"""The GPU work of a report as sums, taken up slice by slice of time, so that it is nowhere as a whole."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from copy import deepcopy
from functools import partial

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.attribution.activities import (
    Activities,
    DeviceActivities,
    DeviceRecords,
    activity_name,
    collect_activities,
    in_order,
)
from nsysan.attribution.arranged_work import arrange_activities
from nsysan.attribution.doubtful_records import is_doubtful, repeats_in
from nsysan.attribution.duration_groups import GpuDurations
from nsysan.attribution.folded_sums import SumsFold
from nsysan.attribution.gap_sums import NameOf
from nsysan.attribution.gpu_identity import identify_gpu
from nsysan.attribution.kernel_class import classify
from nsysan.attribution.kernel_durations import KernelFold, KernelNames
from nsysan.attribution.work_sums import WorkSums
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.partition import Activity
from nsysan.model.trace import GPU_TABLES, Trace
from nsysan.timeline.compiled import is_worth_compiling

FEWEST_FOLDED_ROWS = 4_000_000
"""Of fewer records numba takes longer to be loaded than whole columns take in its place."""
_NO_KERNELS = np.empty(0, np.int32)

Place = tuple[int, int]
"""A global pid and a device id."""


class FoldedDevice(DeviceRecords, frozen=True):
    """The work of one device; ``sums`` are null where none of its records has a possible time.

    ``communicates`` says whether a kernel of it does.
    """

    communicates: bool
    sums: WorkSums | None


class FoldedGpu(msgspec.Struct, frozen=True):
    """What the devices of one GPU did together."""

    places: frozenset[Place]
    sums: WorkSums
    kernels: Sequence[GpuDurations]


class FoldedReport(msgspec.Struct, frozen=True):
    """The work of a report, in order of process and device; kernels are keyed by their place in ``kernel_names``."""

    devices: tuple[FoldedDevice, ...]
    gpus: tuple[FoldedGpu, ...]
    kernel_names: Sequence[str]
    may_repeat: bool
    """Whether so many records equal another one in what was taken up that they may do so in all."""

    def counted(self) -> FoldedReport:
        """The same in fewer bytes: how often each duration of a kernel occurs."""
        gpus = (replace(gpu, kernels=[GpuDurations.counted(gpu.kernels)]) for gpu in self.gpus)
        return replace(self, gpus=tuple(gpus))

    def record_counts(self) -> dict[str, int]:
        """How many records there are, by table of GPU work."""
        counts = sum(device.fault_counts.sum(axis=1) for device in self.devices)
        return dict(zip(GPU_TABLES, np.asarray(counts).tolist(), strict=True))

    def device_of(self, records: DeviceRecords) -> FoldedDevice:
        """The device that these are the records of."""
        return next(device for device in self.devices if _place(device) == _place(records))

    def gpu_of(self, records: DeviceRecords) -> FoldedGpu:
        """The GPU of the device that these are the records of."""
        return next(gpu for gpu in self.gpus if _place(records) in gpu.places)


def _place(records: DeviceRecords) -> Place:
    return records.global_pid, records.device_id


class FoldedWork:
    """Takes up the work of one report."""

    def __init__(self) -> None:
        self.report: FoldedReport | None = None
        """What was taken up, null where nothing was or the report is wanted as a whole."""

    def fold(self, slices: Iterable[Trace], most_rows: int | None) -> bool:
        """Take up the slices of the trace; False where all that is in the records has to be known.

        That is so where no record has a possible time, and where they may repeat each other.
        """
        folding = _Folding(as_machine_code=is_worth_compiling(most_rows or 0, FEWEST_FOLDED_ROWS))
        for trace in slices:
            folding.add(trace)
        found = folding.report()
        self.report = found if found.gpus and not found.may_repeat else None
        return self.report is not None

    def fold_whole(self, trace: Trace) -> bool:
        """Take up a trace that is there as a whole, as ``fold`` does."""
        return self.fold([trace], sum(map(len, trace.gpu_tables().values())))


class _Folding:
    def __init__(self, *, as_machine_code: bool) -> None:
        self._as_machine_code = as_machine_code
        self._names = KernelNames()
        self._gpus: dict[Hashable, _GpuFold] = {}
        self._counts: dict[Place, Int64Array] = {}
        self._communicating: set[Place] = set()
        self._repeated: Counter[str] = Counter()
        self._recorded: Counter[str] = Counter()

    def add(self, trace: Trace) -> None:
        kernel_names = _NO_KERNELS if trace.kernels is None else self._names.places(trace, trace.kernels.name_id)
        works = self._works(trace, kernel_names)
        for name, (repeated, recorded) in repeats_in(trace, works).items():
            self._repeated[name] += repeated
            self._recorded[name] += recorded
        of_gpus: defaultdict[Hashable, list[DeviceActivities]] = defaultdict(list)
        for work in works:
            place = _place(work)
            self._counts[place] = self._counts.get(place, 0) + work.fault_counts
            if len(work.activities):
                of_gpus[_key(trace, place)].append(work)
                if place not in self._communicating and _communicates(work.activities):
                    self._communicating.add(place)
        name_of = partial(activity_name, (trace,))
        for key, works in of_gpus.items():
            gpu = self._gpus.setdefault(key, _GpuFold(as_machine_code=self._as_machine_code))
            gpu.add(works, name_of, kernel_names)

    def _works(self, trace: Trace, kernel_names: IdArray) -> list[DeviceActivities]:
        if not self._as_machine_code:
            return collect_activities(trace, 0)
        kinds = np.array([int(classify(name).activity) for name in self._names.all()], np.uint8)
        return arrange_activities(trace, kinds[kernel_names])

    def report(self) -> FoldedReport:
        gpus = [gpu.folded() for gpu in self._gpus.values()]
        sums = {place: found for _, of_devices in gpus for place, found in of_devices.items()}
        devices = (
            FoldedDevice(*place, counts, place in self._communicating, sums.get(place))
            for place, counts in sorted(self._counts.items())
        )
        counts = ((self._repeated[name], count) for name, count in self._recorded.items())
        may_repeat = any(is_doubtful(repeated, count) for repeated, count in counts)
        return FoldedReport(tuple(devices), tuple(gpu for gpu, _ in gpus), self._names.all(), may_repeat)


def _key(trace: Trace, place: Place) -> Hashable:
    """What devices of one GPU share."""
    identity = identify_gpu(trace, 0, *place)
    return ("device", place) if identity.key is None else ("gpu", identity.key)


def _communicates(activities: Activities) -> bool:
    of_kernels = activities.are_of("kernels")
    return bool((of_kernels & (activities.kind == int(Activity.COMMUNICATION))).any())


class _GpuFold:
    """The devices of a GPU one by one, and, where there are several, together."""

    def __init__(self, *, as_machine_code: bool) -> None:
        self._as_machine_code = as_machine_code
        self._devices: dict[Place, SumsFold] = {}
        self._together: SumsFold | None = None
        self._kernels = KernelFold(as_machine_code=as_machine_code)

    def add(self, works: Sequence[DeviceActivities], name_of: NameOf, kernel_names: IdArray) -> None:
        joining = {_place(work): work.activities for work in works}
        activities = works[0].activities if len(works) == 1 else in_order(Activities.concatenate([*joining.values()]))
        if self._together is None and len(self._devices.keys() | joining) > 1:
            # up to now the GPU did what its only device did
            alone = next(iter(self._devices.values()), None)
            self._together = self._sums_from(activities) if alone is None else deepcopy(alone)
        for place, own in joining.items():
            self._devices.setdefault(place, self._sums_from(own)).add(own, name_of)
        if self._together is not None:
            self._together.add(activities, name_of)
        self._kernels.add(activities, kernel_names)

    def _sums_from(self, activities: Activities) -> SumsFold:
        return SumsFold(int(activities.start_ns[0]), as_machine_code=self._as_machine_code)

    def folded(self) -> tuple[FoldedGpu, dict[Place, WorkSums]]:
        """What the GPU did, and what each of its devices did."""
        of_devices = {place: fold.sums() for place, fold in self._devices.items()}
        together = next(iter(of_devices.values())) if self._together is None else self._together.sums()
        return FoldedGpu(frozenset(of_devices), together, self._kernels.durations()), of_devices
