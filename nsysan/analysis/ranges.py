"""NVTX ranges by name: their CPU time, and the GPU time that was launched in them; and the tree in which they nest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

import msgspec

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.registry import Analysis
from nsysan.attribution.devices import Device
from nsysan.attribution.idle.codes import code_of
from nsysan.attribution.idle.idle_pieces import IdlePieces
from nsysan.attribution.job import Job
from nsysan.attribution.launched_time import LaunchedTime, launched_time
from nsysan.attribution.ranges.groups import DomainAndName, GroupNumbers, ShapeNumbers
from nsysan.attribution.ranges.sums import ReportRanges, SumsByGroup
from nsysan.attribution.ranges.tree import RangeTree
from nsysan.model.idle import Cause
from nsysan.model.profilers import RECORD_HOST
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import display_text

MOST_ROWS = 200
MOST_NODES = 400
MOST_SHAPES = 8
"""The shapes that are listed of an operator."""


class RangeKind(str, Enum):
    """How ranges of a name behave: like brackets on a thread, or as intervals that any thread may end."""

    PUSH_POP = "push_pop"
    START_END = "start_end"


class OperatorTimes(msgspec.Struct, frozen=True):
    """The ranges of an operator whose inputs had these shapes, written as JSON; times as those of its name."""

    sizes: str
    count: int
    cpu_total_ns: int
    gpu_total_ns: int


class RangeTimesOfName(msgspec.Struct, frozen=True):
    """All ranges that share a name (``*`` stands for a number that counts); ``domain`` is null for the default one.

    Total is inside such ranges, counted once where they nest in each other; self is inside no range nested in them. GPU
    time is the length of the work whose call begins inside the range on its thread: a volume of work. Of start/end
    ranges, self is null and GPU time that of calls during which no other such range was open; the rest is ambiguous.
    ``launch_starved_ns`` is idle time that waited for the thread while this was the innermost range. ``categories`` are
    those that any of the ranges bears. ``shapes`` are those with the most GPU time of an operator's inputs, where
    PyTorch wrote them; there are ``shape_count``.
    """

    name: str
    domain: str | None
    kind: RangeKind
    count: int
    open_count: int
    begun_before_count: int
    cpu_total_ns: int
    cpu_self_ns: int | None
    gpu_total_ns: int
    gpu_self_ns: int | None
    ambiguous_gpu_ns: int
    launch_starved_ns: int
    categories: tuple[str, ...] = ()
    shape_count: int = 0
    shapes: tuple[OperatorTimes, ...] = ()


class RangeNode(msgspec.Struct, frozen=True):
    """A path of names from the top of a thread's nest; ``parent`` is a place in ``range_tree``, null at the top.

    Self is what no range nested inside has; null in runs that were saved before it was told.
    """

    parent: int | None
    name: str
    domain: str | None
    count: int
    cpu_total_ns: int
    gpu_total_ns: int
    cpu_self_ns: int | None = None
    gpu_self_ns: int | None = None


class Ranges(msgspec.Struct, frozen=True):
    """The names with the most GPU time, then CPU time, and the paths with the most CPU time."""

    id: ClassVar[str] = "ranges"

    ranges: tuple[RangeTimesOfName, ...]
    ranges_omitted_count: int
    range_tree: tuple[RangeNode, ...]
    range_nodes_omitted_count: int


def compute_ranges(job: Job, _results: ResultSet) -> Ranges | Skipped:
    """The ranges of the job's reports; skipped where none were recorded."""
    if not job.gpus:
        return no_gpu_work(Ranges.id, job)
    if not any(len(threads.host.ranges) for threads in job.idle.threads):
        return Skipped(Ranges.id, "the trace holds no ranges", RECORD_HOST.by({trace.profiler for trace in job.traces}))
    found = _Collected()
    for report, threads in enumerate(job.idle.threads):
        devices = job.devices_of(report)
        if devices and len(threads.host.ranges):
            found.add(ReportRanges(threads, *_work_and_bounds(job, devices), found.numbers), _starved(job, devices))
    rows = found.rows()
    nodes = found.tree.largest(MOST_NODES)
    names = found.numbers.names
    return Ranges(
        ranges=tuple(rows[:MOST_ROWS]),
        ranges_omitted_count=max(len(rows) - MOST_ROWS, 0),
        range_tree=tuple(RangeNode(node.parent, *_shown(names[node.group]), *node.sums) for node in nodes),
        range_nodes_omitted_count=len(found.tree) - len(nodes),
    )


ANALYSIS = Analysis(Ranges, compute_ranges)


def _work_and_bounds(job: Job, devices: Sequence[Device]) -> tuple[LaunchedTime, tuple[int, int]]:
    """What the calls of a report launched inside the devices' windows, and between which bounds CPU time counts.

    Without a chosen window all of the capture does: the host works ahead of the GPU.
    """
    host = job.idle.threads[devices[0].report].host
    windows = [(int(device.occupancy.bounds_ns[0]), int(device.occupancy.bounds_ns[-1])) for device in devices]
    pairs = zip(devices, windows, strict=True)
    launched = launched_time(host, [(device.activities, window_ns) for device, window_ns in pairs])
    if job.window_is_chosen:
        return launched, (min(windows)[0], max(end_ns for _, end_ns in windows))
    return launched, (0, max(int(host.range_ends_ns.max(initial=0)), 0))


def _starved(job: Job, devices: Sequence[Device]) -> IdlePieces:
    """The idle pieces of the devices that waited for a thread to launch anything."""
    starved = code_of(Cause.LAUNCH_STARVED)
    found = [idle.pieces for idle in map(job.idle.of_device, devices) if idle is not None]
    return IdlePieces.concatenate([pieces.take(pieces.cause == starved) for pieces in found])


class _Collected:
    """The sums over the ranges of all reports."""

    def __init__(self) -> None:
        self.numbers = GroupNumbers()
        self.tree = RangeTree()
        self._by_kind = {kind: SumsByGroup() for kind in RangeKind}
        self._shapes = ShapeNumbers()
        self._by_shape = SumsByGroup()
        self._categories: defaultdict[int, set[str]] = defaultdict(set)

    def add(self, ranges: ReportRanges, starved: IdlePieces) -> None:
        """Add the ranges of one report."""
        for stacked in ranges.stacked():
            self._by_kind[RangeKind.PUSH_POP].add(stacked.sums)
            self._by_shape.add(stacked.by_shape(ranges.threads.host, self._shapes))
            self.tree.add(stacked.paths)
        for waited in ranges.starved(starved):
            self._by_kind[RangeKind.PUSH_POP].add(waited)
        self._by_kind[RangeKind.START_END].add(ranges.free_sums())
        for group, names in ranges.categories().items():
            self._categories[group] |= names

    def rows(self) -> list[RangeTimesOfName]:
        """A row a name and kind, most GPU time first."""
        shapes = self._shapes_by_group()
        rows = [
            self._row(kind, group, sums, shapes[group] if kind is RangeKind.PUSH_POP else [])
            for kind, by_group in self._by_kind.items()
            for group, sums in by_group.rows()
        ]
        return sorted(
            rows, key=lambda row: (-row.gpu_total_ns, -row.cpu_total_ns, row.name, row.domain or "", row.kind)
        )

    def _row(self, kind: RangeKind, group: int, sums: dict[str, int], shapes: list[OperatorTimes]) -> RangeTimesOfName:
        nested = kind is RangeKind.PUSH_POP
        return RangeTimesOfName(
            *_shown(self.numbers.names[group]),
            kind=kind,
            count=sums["count"],
            open_count=sums["open_count"],
            begun_before_count=sums["begun_before_count"],
            cpu_total_ns=sums["cpu_total_ns"],
            cpu_self_ns=sums["cpu_self_ns"] if nested else None,
            gpu_total_ns=sums["gpu_total_ns"],
            gpu_self_ns=sums["gpu_self_ns"] if nested else None,
            ambiguous_gpu_ns=sums["ambiguous_gpu_ns"],
            launch_starved_ns=sums["launch_starved_ns"],
            categories=tuple(map(display_text, sorted(self._categories[group]))),
            shape_count=len(shapes),
            shapes=tuple(shapes[:MOST_SHAPES]),
        )

    def _shapes_by_group(self) -> defaultdict[int, list[OperatorTimes]]:
        """The shapes of each operator, most GPU time first."""
        found: defaultdict[int, list[OperatorTimes]] = defaultdict(list)
        keys = self._shapes.keys
        for number, sums in self._by_shape.rows():
            group, sizes = keys[number]
            times = OperatorTimes(display_text(sizes), sums["count"], sums["cpu_total_ns"], sums["gpu_total_ns"])
            found[group].append(times)
        for shapes in found.values():
            shapes.sort(key=lambda times: (-times.gpu_total_ns, -times.cpu_total_ns, times.sizes))
        return found


def _shown(named: DomainAndName) -> tuple[str, str | None]:
    domain, name = named
    return display_text(name), None if domain is None else display_text(domain)
