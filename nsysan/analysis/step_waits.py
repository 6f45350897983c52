"""The exposed communication of the mean step: waiting for other ranks, or transfer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from nsysan.analysis.collectives import Collectives, exposure_of
from nsysan.analysis.registry import Analysis
from nsysan.analysis.steps import Steps
from nsysan.attribution.job import Job
from nsysan.attribution.losses.communication import ExposedByMember, ExposedCommunication
from nsysan.attribution.steps.steady import steady_steps
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.results import ResultSet, Skipped
from nsysan.timeline.intervals import Intervals


class StepWaitsOfRank(msgspec.Struct, frozen=True):
    """A rank's exposed communication in the mean of its ``step_count`` steady steps, taken apart as losses are.

    ``waiting_ns`` + ``transfer_ns`` + ``unresolved_ns`` is all of it; ``unresolved_ns`` is in collectives of which
    waiting is not known.
    """

    rank: int
    device: str
    step_count: int
    waiting_ns: float
    transfer_ns: float
    unresolved_ns: float


class StepWaits(msgspec.Struct, frozen=True):
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
    communication = ExposedByMember(job.collectives, exposure)
    rank_of = job.collectives.ranks.of_member
    rows = []
    for member in sorted(exposure.exposed, key=rank_of.__getitem__):
        steps = steady_steps(job, devices[job.collectives.members[member].id])
        if steps is not None:
            rows.append(_row(job, communication.of(member), member, steps))
    return StepWaits(tuple(rows))


ANALYSIS = Analysis(StepWaits, compute_step_waits, needs=(Steps, Collectives))


def _row(job: Job, exposed: ExposedCommunication, member: int, steps: Intervals) -> StepWaitsOfRank:
    return StepWaitsOfRank(
        rank=job.collectives.ranks.of_member[member],
        device=job.collectives.members[member].id,
        step_count=len(steps),
        waiting_ns=exposed.wait.overlap_ns(steps) / len(steps),
        transfer_ns=exposed.transfer.overlap_ns(steps) / len(steps),
        unresolved_ns=(exposed.messages.overlap_ns(steps) + exposed.unresolved.overlap_ns(steps)) / len(steps),
    )
