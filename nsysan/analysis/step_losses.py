"""How much of a step each cause costs: what removing it would win, on the rank that holds the others up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.collectives import Collectives, exposure_of
from nsysan.analysis.elementwise_chains import ElementwiseChains
from nsysan.analysis.gemms import Gemms
from nsysan.analysis.gpu_time import GpuTime, no_gpu_work
from nsysan.analysis.recomputation import Recomputation
from nsysan.analysis.registry import Analysis
from nsysan.analysis.stragglers import Stragglers
from nsysan.attribution.collectives.exchanges import hands_out
from nsysan.attribution.idle.codes import code_of
from nsysan.attribution.job import Job
from nsysan.attribution.losses.communication import ExposedByMember
from nsysan.attribution.losses.device_losses import DeviceLosses, LossKey
from nsysan.attribution.losses.stretches import Stretches, stretches_of
from nsysan.model.arrays import Int64Array
from nsysan.model.idle import Cause
from nsysan.model.kernels import Collective
from nsysan.model.lateness import Lateness
from nsysan.model.losses import (
    CLOCK_THROTTLE,
    EXPOSED_COLLECTIVE,
    INEFFICIENT_GEMM,
    MOE_SKEW,
    NON_GEMM,
    PIPELINE_BUBBLE,
    RECOMPUTATION,
    SLOW_COMPUTE,
    Basis,
    Bound,
)
from nsysan.model.partition import COMPUTING_PARTS, Part
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import (
    ENOUGH_MEASURED_FRAC,
    MEMORY_BOUND_FRAC,
    ONE_DEVICE_FACTOR,
    PERSISTENT_FRAC,
    SHORT_GAP_NS,
)
from nsysan.model.verdicts import BottleneckClass
from nsysan.timeline.coverage import coverage

_INSIDE_OTHERS = frozenset({INEFFICIENT_GEMM, NON_GEMM})
_COMPUTING = [place for place, part in enumerate(Part) if part in COMPUTING_PARTS]


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """One cause. ``recoverable_ns`` is what removing it wins a step, and errs as ``bound`` says.

    ``lost_ns`` is what the devices lose to it in the mean step, mean over devices, and ``worst_lost_ns`` what
    ``worst_device`` does, of rank ``worst_rank``. ``is_of_one_device`` says whether it is that one's alone.
    """

    cause: str
    bottleneck_class: BottleneckClass | None = msgspec.field(name="class")
    bound: Bound
    recoverable_ns: int
    lost_ns: int
    worst_device: str
    worst_rank: int | None
    worst_lost_ns: int
    is_of_one_device: bool


class ClassLoss(msgspec.Struct, frozen=True, kw_only=True):
    """All causes of a class together; ``unresolved_ns`` more may be of it or of what others wait for."""

    bottleneck_class: BottleneckClass = msgspec.field(name="class")
    recoverable_ns: int
    unresolved_ns: int


class LossReport(msgspec.Struct, frozen=True):
    """The mean over ``stretch_count`` steps (or one window) of ``device_count`` devices.

    ``stretch_ns`` is the mean step of the device for which it is longest: what recoverable time is a share of.
    ``waiting_ns`` of it passes in exposed waits for other ranks, mean over devices; they are charged to what made the
    others late. Those between stages of a pipeline are the loss ``pipeline_bubble`` instead. ``computing_ns`` is the
    time in which compute kernels run, ``graph_ns`` that in which only CUDA graphs do whose kernels are unknown, both
    mean over devices. ``short_gap_frac`` is the share of idle time in gaps under 1 ms, launches that come late one
    after the other; null where nothing idles. ``tells_data_waits`` says whether every report with work names a wait for
    data as such: by ranges of a loader or calls of the operating system; else it counts as a launch that comes late.
    """

    basis: Basis
    stretch_count: int
    device_count: int
    stretch_ns: int
    computing_ns: int
    graph_ns: int
    waiting_ns: int
    short_gap_frac: float | None
    tells_data_waits: bool
    causes: tuple[Loss, ...]
    classes: tuple[ClassLoss, ...]


class StepLosses(msgspec.Struct, frozen=True):
    """What a step loses, most recoverable first."""

    id: ClassVar[str] = "step_losses"

    step_losses: LossReport


def compute_step_losses(job: Job, results: ResultSet) -> StepLosses | Skipped:
    """The losses of the steady steps, or without steps of the window after start-up; skipped without GPU work."""
    if not job.gpus:
        return no_gpu_work(StepLosses.id, job)
    gpu_time = results.get(GpuTime)
    missing = None if isinstance(gpu_time, Skipped) else gpu_time.job.missing_kernels
    if missing is not None and not missing.usable_count:
        return Skipped(StepLosses.id, f"{missing.described('kernel')}, so nothing tells computing from waiting", None)
    stretches = stretches_of(job)
    if stretches is None or not stretches.durations_ns.any():
        return Skipped(StepLosses.id, "no stretch of time holds work of all devices", None)
    return StepLosses(_JobLosses(job, results, stretches).report())


ANALYSIS = Analysis(
    StepLosses,
    compute_step_losses,
    needs=(GpuTime, Collectives, Stragglers, Recomputation, Gemms, ElementwiseChains),
)


class _JobLosses:
    """The losses of all devices: by cause an array of a row a device, a column a stretch."""

    def __init__(self, job: Job, results: ResultSet, stretches: Stretches) -> None:
        self._job, self._results, self._stretches = job, results, stretches
        communication = ExposedByMember(job.collectives, exposure_of(job))
        found = [
            DeviceLosses(job, device, communication, start_ns, end_ns)
            for device, start_ns, end_ns in zip(stretches.devices, stretches.start_ns, stretches.end_ns, strict=True)
        ]
        self._waits_ns = np.array([losses.exposed_wait_ns for losses in found])
        self._computing_ns = np.array(list(self._running(_COMPUTING)))
        self._graph_ns = np.array(list(self._running([list(Part).index(Part.OPAQUE_GRAPH)])))
        self._bubbles_ns: Int64Array = np.array([losses.bubble_wait_ns for losses in found])
        self._exchange_ns: Int64Array = np.array([losses.exchange_ns for losses in found])
        self._own_ns: Int64Array = stretches.durations_ns - self._waits_ns
        self._short_gap_frac = _short_gap_frac(found)
        by_device = [losses.losses() for losses in found]
        keys = dict.fromkeys(key for losses in by_device for key in losses)
        nothing = np.zeros(stretches.durations_ns.shape[1], np.int64)
        self._lost: dict[LossKey, Int64Array] = {
            key: np.array([losses.get(key, nothing) for losses in by_device]) for key in keys
        }
        self._lost |= dict(self._late_compute())
        self._lost |= dict(self._recomputed())
        self._lost |= dict(self._slow_products())
        self._lost |= dict(self._unfused())

    def report(self) -> LossReport:
        """All of it, most recoverable first."""
        causes = [self._loss(key, lost_ns) for key, lost_ns in self._lost.items() if lost_ns.any()]
        causes.sort(key=lambda loss: (-loss.recoverable_ns, -loss.lost_ns, loss.cause))
        durations_ns = self._stretches.durations_ns
        return LossReport(
            basis=self._stretches.basis,
            stretch_count=durations_ns.shape[1],
            device_count=len(durations_ns),
            stretch_ns=round(float(durations_ns.mean(axis=1).max())),
            computing_ns=round(float(self._computing_ns.mean())),
            graph_ns=round(float(self._graph_ns.mean())),
            waiting_ns=round(float((self._waits_ns - self._bubbles_ns).mean())),
            short_gap_frac=self._short_gap_frac,
            tells_data_waits=all(_tells_data_waits(self._job, report) for report in self._reports),
            causes=tuple(causes),
            classes=tuple(self._of_class(one) for one in BottleneckClass),
        )

    @property
    def _reports(self) -> set[int]:
        return {device.report for device in self._stretches.devices}

    def _loss(self, key: LossKey, lost_ns: Int64Array) -> Loss:
        cause, found_class, bound = key
        by_device = lost_ns.mean(axis=1)
        worst = int(by_device.argmax())
        others = np.delete(by_device, worst)
        device = self._stretches.devices[worst]
        return Loss(
            cause=cause,
            bottleneck_class=found_class,
            bound=bound,
            recoverable_ns=self._recoverable_ns(lost_ns, self._standing_ns([key])),
            lost_ns=round(float(by_device.mean())),
            worst_device=device.id,
            worst_rank=self._rank_of(device.id),
            worst_lost_ns=round(float(by_device[worst])),
            is_of_one_device=bool(
                len(others) and by_device[worst] > ONE_DEVICE_FACTOR * np.median(others) and _leads(lost_ns, worst)
            ),
        )

    def _of_class(self, wanted: BottleneckClass) -> ClassLoss:
        own = {key: lost_ns for key, lost_ns in self._lost.items() if key[1] is wanted}
        open_ = [lost_ns for key, lost_ns in own.items() if _is_unresolved(key)]
        known = [*_disjoint({key: lost_ns for key, lost_ns in own.items() if not _is_unresolved(key)})]
        return ClassLoss(
            bottleneck_class=wanted,
            recoverable_ns=self._union_ns(known, self._standing_ns(own)),
            unresolved_ns=self._union_ns(open_, self._own_ns),
        )

    def _standing_ns(self, keys: Iterable[LossKey]) -> Int64Array:
        """What these losses are taken from: without waits, but with the bubble where it is one of them."""
        has_bubble = any(key[0] == PIPELINE_BUBBLE for key in keys)
        return self._own_ns + self._bubbles_ns if has_bubble else self._own_ns

    def _union_ns(self, lost: Iterable[Int64Array], own_ns: Int64Array) -> int:
        """Of disjoint losses together; they never exceed the stretch."""
        total_ns = sum(lost, np.zeros_like(own_ns))
        return self._recoverable_ns(np.minimum(total_ns, own_ns), own_ns)

    def _recoverable_ns(self, lost_ns: Int64Array, own_ns: Int64Array) -> int:
        """Per stretch the slowest device's time less that of the slowest without the loss; the mean over stretches."""
        return round(float((own_ns.max(axis=0) - (own_ns - lost_ns).max(axis=0)).mean()))

    def _rank_of(self, device: str) -> int | None:
        collectives = self._results.get(Collectives)
        if isinstance(collectives, Skipped):
            return None
        return next((row.rank for row in collectives.ranks if row.device == device), None)

    def _running(self, parts: Sequence[int]) -> Iterator[Int64Array]:
        """The time of each stretch that belongs to these parts, on each device."""
        for device, starts, ends in zip(
            self._stretches.devices, self._stretches.start_ns, self._stretches.end_ns, strict=True
        ):
            edges_ns = np.stack([starts, ends], axis=1).ravel()
            yield coverage(device.occupancy, edges_ns)[::2][:, list(parts)].sum(axis=1)

    def _late_compute(self) -> Iterator[tuple[LossKey, Int64Array]]:
        """What ranks that others wait for compute longer: than the others' median, or the mean where work moves."""
        stragglers = self._results.get(Stragglers)
        if isinstance(stragglers, Skipped) or len(self._own_ns) <= 1:
            return
        excess: dict[str, Int64Array] = {}
        ratios: dict[str, float] = {}
        places = {device.id: place for place, device in enumerate(self._stretches.devices)}
        for straggler in stragglers.stragglers:
            cause = None if straggler.why is None else self._compute_cause(straggler.why.cause)
            if straggler.why is not None and cause is not None and straggler.device in places:
                lost_ns = excess.setdefault(cause, np.zeros_like(self._own_ns))
                lost_ns[places[straggler.device]] = self._excess_ns(places[straggler.device], cause)
                ratios[cause] = max(ratios.get(cause, 1.0), straggler.why.kernel_ratio or 1.0)
        if MOE_SKEW in excess:
            excess[MOE_SKEW] += self._skewed_ns(ratios[MOE_SKEW])
        for cause, lost_ns in excess.items():
            yield (cause, BottleneckClass.COMPUTE, self._late_bound(cause)), lost_ns

    def _late_bound(self, cause: str) -> Bound:
        if cause == MOE_SKEW:
            # the ratio is that of all kernels, of which those of experts are some
            return Bound.AT_LEAST
        # two ranks that send to each other may share out one load, of which half the excess stays
        return Bound.AT_MOST if cause == SLOW_COMPUTE and self._are_two_that_send() else Bound.EITHER

    def _compute_cause(self, why: Lateness) -> str | None:
        """More work, or slower kernels but not all by one ratio, is skew where ranks hand out tokens to each other."""
        if why in {Lateness.MORE_WORK, Lateness.SLOW_COMPUTE}:
            return MOE_SKEW if self._sends_to_all() else SLOW_COMPUTE
        return CLOCK_THROTTLE if why is Lateness.CLOCK_THROTTLE else None

    def _sends_to_all(self) -> bool:
        found = self._job.collectives
        return any(hands_out(one.series, found.operations) for one in found.measured)

    def _are_two_that_send(self) -> bool:
        """Whether messages between two may be tokens handed out."""
        collectives = self._results.get(Collectives)
        rows = () if isinstance(collectives, Skipped) else collectives.collectives
        return len(self._own_ns) == 2 and any(row.kind == Collective.SEND_RECV.value for row in rows)  # noqa: PLR2004 -- a pair

    def _excess_ns(self, place: int, cause: str) -> Int64Array:
        others = np.delete(self._computing_ns, place, axis=0)
        usual_ns = self._computing_ns.mean(axis=0) if cause == MOE_SKEW else np.median(others, axis=0)
        excess: Int64Array = (self._computing_ns[place] - usual_ns).clip(min=0).astype(np.int64)
        return excess

    def _skewed_ns(self, ratio: float) -> Int64Array:
        """What exchanges take longer, on all ranks, because one of them gets more: as much more as its experts compute.

        Of n ranks one that computes k times as long as the others has k n / (k + n - 1) times the mean.
        """
        rank_count = len(self._own_ns)
        load = ratio * rank_count / (ratio + rank_count - 1)
        skewed: Int64Array = (self._exchange_ns * (1 - 1 / load)).astype(np.int64)
        return skewed

    def _recomputed(self) -> Iterator[tuple[LossKey, Int64Array]]:
        """What each device computes again, which every step has alike."""
        again = self._results.get(Recomputation)
        found: Mapping[str, int] = (
            {}
            if isinstance(again, Skipped) or self._stretches.basis is not Basis.STEPS
            else {one.device: one.recomputed_ns // one.step_count for one in again.recomputation if one.step_count}
        )
        lost = [found.get(device.id, 0) for device in self._stretches.devices]
        lost_ns = np.repeat(np.array(lost, np.int64)[:, None], self._own_ns.shape[1], axis=1)
        yield (RECOMPUTATION, BottleneckClass.MEMORY, Bound.AT_MOST), np.minimum(lost_ns, self._computing_ns)

    def _slow_products(self) -> Iterator[tuple[LossKey, Int64Array]]:
        """What products take longer than they were measured to, which every device and step has alike."""
        gemms = self._results.get(Gemms)
        if (
            isinstance(gemms, Skipped)
            or self._stretches.basis is not Basis.STEPS
            or gemms.measured_frac < ENOUGH_MEASURED_FRAC
        ):
            return
        lost_ns = np.full_like(self._own_ns, gemms.gemm_lost_measured_ns_per_step or 0)
        yield (INEFFICIENT_GEMM, BottleneckClass.COMPUTE, Bound.AT_MOST), np.minimum(lost_ns, self._computing_ns)

    def _unfused(self) -> Iterator[tuple[LossKey, Int64Array]]:
        """What chains of elementwise kernels take longer than one kernel each, where memory is seen to bound them."""
        chains = self._results.get(ElementwiseChains)
        bound: Mapping[str, int] = (
            {}
            if isinstance(chains, Skipped) or self._stretches.basis is not Basis.STEPS
            else {
                one.device: one.saved_ns_per_step
                for one in chains.elementwise_chains
                if one.dram_frac is not None and one.dram_frac >= MEMORY_BOUND_FRAC
            }
        )
        saved = np.array([bound.get(device.id, 0) for device in self._stretches.devices], np.int64)
        lost_ns = np.repeat(saved[:, None], self._own_ns.shape[1], axis=1)
        yield (NON_GEMM, BottleneckClass.MEMORY, Bound.AT_MOST), np.minimum(lost_ns, self._computing_ns)


def _tells_data_waits(job: Job, report: int) -> bool:
    host = job.idle.threads[report].host
    return bool(host.trace.os_calls) or bool((host.range_causes == code_of(Cause.DATA_LOADING)).any())


def _short_gap_frac(found: Sequence[DeviceLosses]) -> float | None:
    idle_ns = sum(int(losses.idle_ns().sum()) for losses in found)
    short_ns = sum(int(losses.idle_ns(SHORT_GAP_NS).sum()) for losses in found)
    return short_ns / idle_ns if idle_ns else None


def _leads(lost_ns: Int64Array, device: int) -> bool:
    """Whether most of what is lost stretch by stretch is this device's: others do not take their turns."""
    most_ns = lost_ns.max(axis=0)
    return bool(most_ns[lost_ns.argmax(axis=0) == device].sum() >= PERSISTENT_FRAC * most_ns.sum())


def _disjoint(lost: Mapping[LossKey, Int64Array]) -> Iterator[Int64Array]:
    """The losses without what they may share.

    A rank that computes late may do so in its products, and what is computed again may be in chains.
    """
    whole = [lost_ns for key, lost_ns in lost.items() if key[0] not in _INSIDE_OTHERS]
    yield from whole
    for key, lost_ns in lost.items():
        if key[0] in _INSIDE_OTHERS:
            yield (lost_ns - sum(whole, np.zeros_like(lost_ns))).clip(min=0)


def _is_unresolved(key: LossKey) -> bool:
    """Communication of which waiting is not known."""
    return key[0] == EXPOSED_COLLECTIVE and key[2] is Bound.AT_MOST
