"""Activations that the backward pass computes again instead of keeping them: how much of the steps that takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.registry import Analysis
from nsysan.attribution.devices import Device
from nsysan.attribution.host import Host
from nsysan.attribution.job import Job
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.repeated_kernels import named_forward, repeated
from nsysan.attribution.stages.codes import SOURCES as STAGE_SOURCES
from nsysan.attribution.stages.codes import code_of
from nsysan.attribution.steps.steady import steady_steps
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.confidence import Confidence
from nsysan.model.distinct import coded
from nsysan.model.figures import Figure, Topic, Unit
from nsysan.model.partition import Activity
from nsysan.model.profilers import Recapture
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.stages import Stage, StageSource
from nsysan.model.text import display_text, text_hash
from nsysan.timeline.intervals import Intervals
from nsysan.timeline.ordering import order_of
from nsysan.timeline.search import search

MOST_KERNELS = 20
_RECOMPUTATION = Topic("recomputation", "Recomputation")
_NAME_BACKWARD = Recapture(
    nsys="Put the backward pass of each step in an NVTX range named backward.",
    torch="Put the backward pass of each step in torch.profiler.record_function('backward').",
)


class RecomputedKernel(msgspec.Struct, frozen=True):
    """A kernel that was run again, in the steady steps of all devices."""

    name: str
    name_hash: str
    count: int
    total_ns: int


class RecomputationOfDevice(msgspec.Struct, frozen=True):
    """The steady steps of a device. Times are volumes of work: lengths of compute kernels launched in these steps.

    ``told_by`` is what tells most of the backward pass. ``recomputed_ns`` of its ``backward_ns`` repeat the forward;
    ``recomputed_frac`` is their share in all compute kernels of the steps, ``compute_ns``. ``confidence`` is high where
    kernels that say they are of a forward ran again, else medium, and null where nothing is repeated.
    """

    device: str
    told_by: StageSource
    confidence: Confidence | None
    step_count: int
    recomputed_count: int
    recomputed_ns: int
    backward_ns: int
    compute_ns: int
    recomputed_frac: float | None


class Recomputation(msgspec.Struct, frozen=True):
    """The devices whose backward pass is known, and the kernels that most time is spent on again."""

    id: ClassVar[str] = "recomputation"

    recomputation: tuple[RecomputationOfDevice, ...]
    recomputed_kernels: tuple[RecomputedKernel, ...]

    def figures(self) -> Iterator[Figure]:
        """The share of recomputed work over all devices: better is neither more nor less of it, it buys memory."""
        compute_ns = sum(device.compute_ns for device in self.recomputation)
        if compute_ns:
            share = sum(device.recomputed_ns for device in self.recomputation) / compute_ns
            yield Figure(_RECOMPUTATION, "share", "recomputed share of compute kernels' time", share, Unit.FRAC)


class _Launched(msgspec.Struct, frozen=True, eq=False):
    """The compute kernels that a device's steady steps launched, in order of launch, and which repeat the forward."""

    device: str
    step_count: int
    told_by: StageSource
    in_backward: BoolArray
    names: Sequence[str]
    name_of: Int64Array
    durations_ns: Int64Array
    repeats: BoolArray

    def told(self) -> RecomputationOfDevice:
        """How many they are and what they take."""
        recomputed_ns, compute_ns = int(self.durations_ns[self.repeats].sum()), int(self.durations_ns.sum())
        sure = named_forward(self.names)[self.name_of[self.repeats]].any()
        return RecomputationOfDevice(
            device=self.device,
            told_by=self.told_by,
            confidence=(Confidence.HIGH if sure else Confidence.MEDIUM) if self.repeats.any() else None,
            step_count=self.step_count,
            recomputed_count=int(self.repeats.sum()),
            recomputed_ns=recomputed_ns,
            backward_ns=int(self.durations_ns[self.in_backward].sum()),
            compute_ns=compute_ns,
            recomputed_frac=recomputed_ns / compute_ns if compute_ns else None,
        )


def compute_recomputation(job: Job, _results: ResultSet) -> Recomputation | Skipped:
    """What is computed again in steady steps; skipped where no steps, or no backward pass, can be told."""
    if not job.gpus:
        return no_gpu_work(Recomputation.id, job)
    found = [entry for device in job.devices for entry in _of_device(job, device)]
    if not found:
        recapture = _NAME_BACKWARD.by({trace.profiler for trace in job.traces})
        return Skipped(Recomputation.id, "no steady steps, or nothing that tells their backward pass", recapture)
    return Recomputation(tuple(entry.told() for entry in found), _kernels(found))


ANALYSIS = Analysis(Recomputation, compute_recomputation)


def _of_device(job: Job, device: Device) -> Iterator[_Launched]:
    steps, staged = steady_steps(job, device), job.stages.of_activities(device)
    host = job.idle.threads[device.report].host
    kernels = host.trace.kernels
    if steps is None or staged is None or kernels is None:
        return
    places = _in_order_of_launch(device, host, steps)
    in_backward = staged.stage[places] == code_of(Stage.BACKWARD)
    told_by = _told_by(staged.source[places][in_backward])
    if told_by is None or in_backward.all():
        return
    rows = device.activities.row[places]
    ids, name_of = coded(kernels.name_id[rows])
    names = [host.trace.text(name_id) for name_id in ids.tolist()]
    yield _Launched(
        device=device.id,
        step_count=len(steps),
        told_by=told_by,
        in_backward=in_backward,
        names=names,
        name_of=name_of,
        durations_ns=kernels.end_ns[rows] - kernels.start_ns[rows],
        repeats=repeated(name_of, in_backward, named_forward(names)),
    )


def _in_order_of_launch(device: Device, host: Host, steps: Intervals) -> Int64Array:
    """Which activities are compute kernels that begin in its steady steps and whose call is known."""
    activities = device.activities
    computes = activities.are_of("kernels") & (activities.kind == int(Activity.COMPUTE))
    calls = host.launches.of(activities)
    begun = search(steps.start_ns, activities.start_ns, side="right") - 1
    inside = (begun >= 0) & (activities.start_ns < steps.end_ns[np.maximum(begun, 0)])
    places = np.flatnonzero(computes & inside & (calls != NO_CALL))
    order: Int64Array = places[order_of(host.calls.start_ns[calls[places]])]
    return order


def _told_by(sources: IdArray) -> StageSource | None:
    """What tells most of the backward; None where that is only what was launched before and after, a guess."""
    if not len(sources):
        return None
    most = STAGE_SOURCES[int(np.bincount(sources, minlength=len(STAGE_SOURCES)).argmax())]
    return None if most is StageSource.ORDER else most


def _kernels(found: list[_Launched]) -> tuple[RecomputedKernel, ...]:
    counts: dict[str, int] = {}
    times_ns: dict[str, int] = {}
    for entry in found:
        of_name = entry.name_of[entry.repeats]
        for place, count in enumerate(np.bincount(of_name, minlength=len(entry.names)).tolist()):
            if count:
                name = entry.names[place]
                counts[name] = counts.get(name, 0) + count
                time_ns = int(entry.durations_ns[entry.repeats][of_name == place].sum())
                times_ns[name] = times_ns.get(name, 0) + time_ns
    ordered = sorted(times_ns, key=lambda name: (-times_ns[name], name))[:MOST_KERNELS]
    return tuple(
        RecomputedKernel(display_text(name), text_hash(name), counts[name], times_ns[name]) for name in ordered
    )
