"""Slurm's accounting in its layouts: what is not known yet, steps of jobs, and jobs put back into the queue."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.ingest.evidence.reading import read_evidence
from nsysan.model.errors import InputError
from nsysan.model.scheduler_jobs import ScheduledJob, SchedulerJobs

S = 1_000_000_000
PARSABLE = """\
JobID|JobName|Submit|Eligible|Start|End|Elapsed|State|NNodes|AllocTRES
4711|train|2026-05-01T08:00:00|2026-05-01T08:10:00|2026-05-01T09:00:00|2026-05-02T10:00:01|1-01:00:01|COMPLETED|16|billing=1,gres/gpu:h100=128,gres/gpu=128,node=16
4711.batch|batch|2026-05-01T09:00:00||2026-05-01T09:00:00|2026-05-02T10:00:01|1-01:00:01|COMPLETED|1|
4711.0|python|2026-05-01T09:00:00||2026-05-01T09:00:00|2026-05-02T10:00:01|1-01:00:01|COMPLETED|16|
4712|train|2026-05-01T08:00:00|Unknown|Unknown|Unknown|00:00:00|CANCELLED by 1000|0|
4712|trai
"""
COLUMNS = """\
JobID           Start               End                 Elapsed    State     NNodes
--------------- ------------------- ------------------- ---------- ---------- --------
4711_3          2026-05-01T09:00:00             Unknown   00:10:00    RUNNING        2
"""


def read(folder: Path, text: str) -> SchedulerJobs:
    (folder / "jobs.txt").write_text(text)
    [table] = read_evidence([folder / "jobs.txt"]).of(SchedulerJobs)
    return table


@pytest.mark.parametrize("end", ["", "|"], ids=["-P", "-p"])
def test_a_table_with_separators(tmp_path: Path, end: str) -> None:
    table = read(tmp_path, PARSABLE.replace("\n", f"{end}\n"))

    assert table.malformed_count == 1
    assert table.jobs == (
        ScheduledJob("4711", "COMPLETED", 3_000 * S, 90_001 * S, 16, 128),
        ScheduledJob("4712", "CANCELLED", None, 0, None, None),
    )


def test_a_table_in_columns(tmp_path: Path) -> None:
    assert read(tmp_path, COLUMNS).jobs == (ScheduledJob("4711_3", "RUNNING", None, 600 * S, 2, None),)


@pytest.mark.parametrize(
    ("columns", "row", "run_ns"),
    [
        ("ElapsedRaw|State", "90|RUNNING", 90 * S),
        ("Start|End", "2026-05-01T09:00:00|2026-05-01T09:00:30", 30 * S),
        ("Start|End", "2026-05-01T09:00:00|2026-05-01T08:00:30", None),
        ("Elapsed|State", "-|RUNNING", None),
    ],
)
def test_how_long_a_job_ran(tmp_path: Path, columns: str, row: str, run_ns: int | None) -> None:
    assert read(tmp_path, f"JobIDRaw|{columns}\n9|{row}\n").jobs[0].run_ns == run_ns


def test_a_job_put_back_into_the_queue_has_a_row_a_run(tmp_path: Path) -> None:
    text = "JobID|Elapsed|State\n9|00:01:00|REQUEUED\n9|00:02:00|COMPLETED\n"

    assert [(job.state, job.run_ns) for job in read(tmp_path, text).jobs] == [
        ("REQUEUED", 60 * S),
        ("COMPLETED", 120 * S),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (PARSABLE.splitlines()[0] + "\n", "holds no figure of it"),
        ("JobID|Elapsed|State\n9.batch|00:01:00|COMPLETED\n", "holds no figure of it"),
        ("JobID|JobName\n9|x\n", "is no evidence that nsysan knows"),
    ],
)
def test_a_table_without_jobs_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read(tmp_path, text)
