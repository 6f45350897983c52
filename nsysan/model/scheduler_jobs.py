"""What a scheduler accounts for jobs."""

from __future__ import annotations

import msgspec

from nsysan.model.evidence import EvidenceItem


class ScheduledJob(msgspec.Struct, frozen=True):
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


class SchedulerJobs(EvidenceItem, kw_only=True, frozen=True):
    """The jobs of one table; ``malformed_count`` lines have other than its columns."""

    jobs: tuple[ScheduledJob, ...]
    malformed_count: int
