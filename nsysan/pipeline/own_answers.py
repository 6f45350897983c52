"""What a report answers by itself, where its trace is: all that travels of it where nobody compares reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.analysis.of_reports import OfReport
from nsysan.analysis.stages import Stages
from nsysan.analysis.steps import Steps
from nsysan.attribution.device_communication import DeviceCommunication, communication_of, communication_records
from nsysan.attribution.folded_job import ReportNotes
from nsysan.attribution.folded_work import FoldedReport, FoldedWork
from nsysan.attribution.job import Job, build_job, trace_notes
from nsysan.attribution.pairing_notes import pairing_notes
from nsysan.model.progress import UNWATCHED
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.tables import Table
from nsysan.model.trace import GPU_TABLES, Trace
from nsysan.pipeline.questions import answers, wanted_analyses

_NO_ROWS = np.empty(0, np.int64)
_STEPPING = {Steps.id, Stages.id}


class OwnAnswers(msgspec.Struct, frozen=True):
    """The results of a report alone, and by each of its GPUs the first device that is on it.

    ``communication`` is of its devices, none where nobody sets ranks against each other.
    """

    results: ResultSet
    device_of_gpu: dict[str, str]
    notes: ReportNotes
    communication: dict[str, DeviceCommunication]
    stepping_count: int
    """How many of its devices have steps, where anybody asks for these; else 0."""

    def among(self, report: int, job: Job) -> OfReport:
        """The results as those of the report at this place of the job."""
        gpu_of = {device.id: device.gpu_id for device in job.devices_of(report)}
        own = OfReport(report, self.results, {}, self.communication, self.stepping_count)
        return replace(own, gpus={gpu: gpu_of[own.device(device)] for gpu, device in self.device_of_gpu.items()})


def answer_alone(trace: Trace, questions: Sequence[str]) -> tuple[Trace, FoldedReport, OwnAnswers] | None:
    """What is left of the trace, the sums of its work and its answers; None where these may not be all of use.

    What is left are communication kernels and their calls, if ranks are set against each other.

    So it is where it has no sound GPU work, or records that may repeat each other.
    """
    fold, all_wanted = FoldedWork(), wanted_analyses(questions)
    wanted = [analysis for analysis in all_wanted if not analysis.of_communication]
    if trace.kernels is None or not fold.fold_whole(trace) or fold.report is None:
        return None
    job = build_job([trace])
    results = answers(job, wanted, UNWATCHED)
    of_work = (results.get(analysis.result_type) for analysis in wanted if analysis.of_sums)
    if any(isinstance(result, Skipped) for result in of_work):
        return None
    compares = len(wanted) < len(all_wanted)
    own = OwnAnswers(
        results=results,
        device_of_gpu={gpu.id: gpu.devices[0].id for gpu in job.gpus},
        notes=_notes(job),
        communication=communication_of(job) if compares else {},
        stepping_count=_stepping_count(job) if _STEPPING & {analysis.id for analysis in wanted} else 0,
    )
    left = replace(without_records(trace), **(communication_records(job, 0) if compares else {}))
    return left, fold.report.counted(), own


def _stepping_count(job: Job) -> int:
    return sum(job.steps.of_device(device)[1] is not None for device in job.devices)


def _notes(job: Job) -> ReportNotes:
    [trace], [threads] = job.traces, job.idle.threads
    # work that was folded repeats nothing
    return ReportNotes(
        doubts=tuple(trace_notes(trace, {})),
        pairing=tuple(pairing_notes(threads.host)),
        calls=job.collectives.calls[0],
    )


def without_records(trace: Trace) -> Trace:
    """The trace without its records and their names: of GPU work it tells which kinds were recorded."""
    tables = ((name, getattr(trace, name)) for name in trace.__struct_fields__)
    nothing: dict[str, Any] = {
        name: table.take(_NO_ROWS) if name in GPU_TABLES else None for name, table in tables if isinstance(table, Table)
    }
    return replace(trace, **nothing, strings={}, nvtx_domains={}, nvtx_categories={})
