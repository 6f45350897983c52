"""The exposed communication of the mean step: waiting for other ranks, or transfer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nsysan.analysis.collectives import Collectives, exposure_of
from nsysan.analysis.registry import Analysis
from nsysan.analysis.steps import Steps
from nsysan.attribution.collectives.exposure import Exposure
from nsysan.attribution.job import Device, Job
from nsysan.attribution.steps.steady import steady_steps
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.tables import ABSENT


@dataclass(frozen=True, slots=True)
class StepWaitsOfRank:
    """A rank's exposed communication in the mean of its ``step_count`` steady steps.

    ``waiting_ns`` + ``transfer_ns`` + ``unresolved_ns`` is all of it; ``unresolved_ns`` is in collectives of which
    waiting is not known.
    """

    rank: int
    device: str
    step_count: int
    waiting_ns: float
    transfer_ns: float
    unresolved_ns: float


@dataclass(frozen=True, slots=True)
class StepWaits:
    """The ranks with steady steps, in their order."""

    id: ClassVar[str] = "step_waits"

    step_waits: tuple[StepWaitsOfRank, ...]

    def figures(self) -> Iterator[Figure]:
        """Waiting, transfer and what is neither known to be, mean over ranks; none where no waiting is known at all."""
        ranks = self.step_waits
        if not any(rank.waiting_ns or rank.transfer_ns for rank in ranks):
            return
        for key, name in _NAMES.items():
            mean_ns = sum(getattr(rank, f"{key}_ns") for rank in ranks) / len(ranks)
            yield Figure(_TOPIC, key, name, mean_ns, Unit.NS, Better.LESS, _WHOLE)


_TOPIC = Topic("step_communication", "Exposed communication of the mean steady step, mean over ranks")
_WHOLE = "step_parts.exposed_communication"
_NAMES = {
    "waiting": "waiting for other ranks",
    "transfer": "exposed transfer",
    "unresolved": "communication, waiting or transfer",
}


def compute_step_waits(job: Job, results: ResultSet) -> StepWaits | Skipped:
    """The exposed communication of each rank's mean step; skipped where there are no steps or no collectives."""
    for needed in (results.get(Steps), results.get(Collectives)):
        if isinstance(needed, Skipped):
            return Skipped(StepWaits.id, needed.reason, needed.recapture)
    exposure, devices = exposure_of(job), {device.id: device for device in job.devices}
    rank_of = job.collectives.ranks.of_member
    rows = []
    for member in sorted(exposure.exposed, key=rank_of.__getitem__):
        row = _row(job, exposure, member, devices[job.collectives.members[member].id])
        rows += [] if row is None else [row]
    return StepWaits(tuple(rows))


ANALYSIS = Analysis(StepWaits, compute_step_waits, needs=(Steps, Collectives))


def _row(job: Job, exposure: Exposure, member: int, device: Device) -> StepWaitsOfRank | None:
    steps, found = steady_steps(job, device), job.collectives
    if steps is None:
        return None
    own = found.rows_of(member)
    start_ns, end_ns, wait_ns = found.operations.start_ns[own], found.operations.end_ns[own], found.waits_ns[own]
    known = wait_ns != ABSENT
    waited_until_ns = start_ns + np.where(known, wait_ns, 0)
    waiting_ns = exposure.exposed_where(member, start_ns, waited_until_ns).overlap_ns(steps)
    # what is not known beside a wait that is known counts once
    doubtful_ns = exposure.exposed_where(member, start_ns, np.where(known, waited_until_ns, end_ns)).overlap_ns(steps)
    total_ns = exposure.exposed[member].overlap_ns(steps)
    return StepWaitsOfRank(
        rank=found.ranks.of_member[member],
        device=device.id,
        step_count=len(steps),
        waiting_ns=waiting_ns / len(steps),
        transfer_ns=(total_ns - doubtful_ns) / len(steps),
        unresolved_ns=(doubtful_ns - waiting_ns) / len(steps),
    )
