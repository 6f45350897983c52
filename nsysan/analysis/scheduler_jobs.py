"""What the scheduler accounts for the job: how long it waited, how long it ran, and on how much."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from nsysan.analysis.registry import Analysis
from nsysan.attribution.job import Job
from nsysan.model.results import ResultSet
from nsysan.model.scheduler_jobs import ScheduledJob, SchedulerJobs
from nsysan.model.text import display_text

SHOWN_JOBS = 100


class SchedulerJobSummary(msgspec.Struct, frozen=True):
    """One run of a job, by the file ``name``; null where its table does not tell.

    ``queue_ns`` is the time until it began, ``run_ns`` the time since. A job that was put back has a row a run.
    """

    name: str
    job: str
    state: str | None
    queue_ns: int | None
    run_ns: int | None
    nodes: int | None
    gpu_count: int | None


class SchedulerAccounts(msgspec.Struct, frozen=True):
    """The jobs that tables of accounting tell of, none where none was given."""

    id: ClassVar[str] = "scheduler_jobs"

    scheduler_jobs: tuple[SchedulerJobSummary, ...]


def compute_scheduler_jobs(job: Job, _results: ResultSet) -> SchedulerAccounts:
    """The first jobs of each table among the evidence."""
    rows = [(table.name, one) for table in job.evidence.of(SchedulerJobs) for one in table.jobs]
    return SchedulerAccounts(tuple(_summary(name, one) for name, one in rows[:SHOWN_JOBS]))


ANALYSIS = Analysis(SchedulerAccounts, compute_scheduler_jobs, of_host=False)


def _summary(name: str, job: ScheduledJob) -> SchedulerJobSummary:
    return SchedulerJobSummary(
        name=display_text(name),
        job=display_text(job.id),
        state=job.state,
        queue_ns=job.queue_ns,
        run_ns=job.run_ns,
        nodes=job.node_count,
        gpu_count=job.gpu_count,
    )
