"""What a scheduler accounts for jobs."""

from __future__ import annotations

from dataclasses import dataclass

from nsysan.model.evidence import EvidenceItem


@dataclass(frozen=True, slots=True)
class ScheduledJob:
    """One run of a job; a job that was put back into the queue has several. None where the table does not tell.

    ``queue_ns`` is from when it could have begun (else from when it was submitted) until it began, ``run_ns`` how long
    it ran, or has been running.
    """

    id: str
    state: str | None
    queue_ns: int | None
    run_ns: int | None
    node_count: int | None
    gpu_count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerJobs(EvidenceItem):
    """The jobs of one table; ``malformed_count`` lines have other than its columns."""

    jobs: tuple[ScheduledJob, ...]
    malformed_count: int
