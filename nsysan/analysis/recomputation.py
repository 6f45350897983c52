"""Activations that the backward pass computes again instead of keeping them: how much of the steps that takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.registry import Analysis
from nsysan.attribution.backward import BackwardSource, backward_of
from nsysan.attribution.job import Device, Job
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.repeated_kernels import named_forward, repeated
from nsysan.attribution.steps.steady import steady_steps
from nsysan.model.distinct import coded
from nsysan.model.partition import Activity
from nsysan.model.profilers import Recapture
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.tables import BoolArray, Int64Array
from nsysan.model.text import display_text, text_hash

MOST_KERNELS = 20
_NAME_BACKWARD = Recapture(
    nsys="Put the backward pass of each step in an NVTX range named backward.",
    torch="Put the backward pass of each step in torch.profiler.record_function('backward').",
)


class Confidence(str, Enum):
    """How sure it is: ``HIGH`` where kernels that say they are of a forward ran in the backward, else ``MEDIUM``."""

    HIGH = "high"
    MEDIUM = "medium"


@dataclass(frozen=True, slots=True)
class RecomputedKernel:
    """A kernel that was run again, in the steady steps of all devices."""

    name: str
    name_hash: str
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class RecomputationOfDevice:
    """The steady steps of a device. Times are volumes of work: lengths of compute kernels launched in these steps.

    ``told_by`` is what tells the backward pass. ``recomputed_ns`` of its ``backward_ns`` repeat the forward;
    ``recomputed_frac`` is their share in all compute kernels of the steps, ``compute_ns``. ``confidence`` is null where
    nothing is repeated.
    """

    device: str
    told_by: BackwardSource
    confidence: Confidence | None
    step_count: int
    recomputed_count: int
    recomputed_ns: int
    backward_ns: int
    compute_ns: int
    recomputed_frac: float | None


@dataclass(frozen=True, slots=True)
class Recomputation:
    """The devices whose backward pass is known, and the kernels that most time is spent on again."""

    id: ClassVar[str] = "recomputation"

    recomputation: tuple[RecomputationOfDevice, ...]
    recomputed_kernels: tuple[RecomputedKernel, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Launched:
    """The compute kernels that steady steps launched, in order of launch, and which of them repeat the forward."""

    device: RecomputationOfDevice
    names: list[str]
    name_of: Int64Array
    durations_ns: Int64Array
    repeats: BoolArray


def compute_recomputation(job: Job, _results: ResultSet) -> Recomputation | Skipped:
    """What is computed again in steady steps; skipped where no steps, or no backward pass, can be told."""
    if not job.gpus:
        return no_gpu_work(Recomputation.id, job)
    found = [entry for device in job.devices for entry in _of_device(job, device)]
    if not found:
        recapture = _NAME_BACKWARD.by({trace.profiler for trace in job.traces})
        return Skipped(Recomputation.id, "no steady steps, or nothing that tells their backward pass", recapture)
    return Recomputation(tuple(entry.device for entry in found), _kernels(found))


ANALYSIS = Analysis(Recomputation, compute_recomputation)


def _of_device(job: Job, device: Device) -> Iterator[_Launched]:
    steps, host = steady_steps(job, device), job.idle.threads[device.report].host
    kernels, rows = host.trace.kernels, device.rows_of("kernels")
    if steps is None or kernels is None or not len(rows):
        return
    computes = device.kinds_of("kernels") == int(Activity.COMPUTE)
    rows = rows[computes & (host.launches.rows["kernels"][rows] != NO_CALL)]
    calls = host.launches.rows["kernels"][rows]
    begun = np.searchsorted(steps.start_ns, kernels.start_ns[rows], side="right") - 1
    inside = (begun >= 0) & (kernels.start_ns[rows] < steps.end_ns[np.maximum(begun, 0)])
    order = np.flatnonzero(inside)[np.argsort(host.calls.start_ns[calls[inside]], kind="stable")]
    rows, calls = rows[order], calls[order]
    backward = backward_of(host, device.global_pid, calls, kernels.name_id[rows]) if len(rows) else None
    if backward is None:
        return
    ids, name_of = coded(kernels.name_id[rows])
    names = [host.trace.text(name_id) for name_id in ids.tolist()]
    says_forward = named_forward(names)
    repeats = repeated(name_of, backward.launched, says_forward)
    durations_ns = (kernels.end_ns - kernels.start_ns)[rows]
    compute_ns = int(durations_ns.sum())
    sure = bool((repeats & says_forward[name_of]).any())
    yield _Launched(
        device=RecomputationOfDevice(
            device=device.id,
            told_by=backward.source,
            confidence=None if not repeats.any() else Confidence.HIGH if sure else Confidence.MEDIUM,
            step_count=len(steps),
            recomputed_count=int(repeats.sum()),
            recomputed_ns=int(durations_ns[repeats].sum()),
            backward_ns=int(durations_ns[backward.launched].sum()),
            compute_ns=compute_ns,
            recomputed_frac=int(durations_ns[repeats].sum()) / compute_ns if compute_ns else None,
        ),
        names=names,
        name_of=name_of,
        durations_ns=durations_ns,
        repeats=repeats,
    )


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
