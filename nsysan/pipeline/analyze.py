"""``analyze``: read the reports, attribute, run the analyses and the rules, and hand back the Run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from nsysan import __version__
from nsysan.analysis.gemms import Gemms
from nsysan.analysis.of_reports import OfReport
from nsysan.analysis.registry import Analysis
from nsysan.analysis.steps import Steps
from nsysan.attribution.collectives.clock_fit import FittedClocks
from nsysan.attribution.collectives.job_collectives import JobCollectives
from nsysan.attribution.collectives.naming_notes import naming_notes
from nsysan.attribution.collectives.ranks import RankChoice, rank_notes
from nsysan.attribution.folded_job import build_folded_job
from nsysan.attribution.folded_work import FoldedWork
from nsysan.attribution.job import Job, build_job
from nsysan.attribution.sessions_apart import sessions_apart_notes
from nsysan.attribution.window import WindowChoice
from nsysan.findings.diagnosis import diagnose
from nsysan.findings.registry import find_all
from nsysan.ingest.evidence.reading import read_evidence
from nsysan.model.ceilings import Ceilings
from nsysan.model.clock import now_utc
from nsysan.model.evidence import Evidence
from nsysan.model.progress import UNWATCHED, Progress
from nsysan.model.recorded import recorded_kinds
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.run import SCHEMA_VERSION, Note, OptionValue, Provenance, ReportInfo, Run
from nsysan.model.text import display_text, first_names, text_hash
from nsysan.model.trace import Trace
from nsysan.model.units import counted
from nsysan.pipeline.evidence import with_payloads
from nsysan.pipeline.freed_memory import keep_freed_memory
from nsysan.pipeline.inputs import without_copies
from nsysan.pipeline.profiled_calls import with_profiled_calls
from nsysan.pipeline.questions import answers, wanted_analyses
from nsysan.pipeline.report_tasks import Order, Reading, ReadReport, read_here, reports_of
from nsysan.pipeline.same_capture import without_repeats
from nsysan.pipeline.shapes_not_taken import shapes_not_taken_notes
from nsysan.pipeline.throughput import ThroughputOptions, with_costs, with_throughput
from nsysan.pipeline.whole_reports import read_reports


class AnalyzeOptions(msgspec.Struct, frozen=True):
    """What changes the result. ``only`` names the analyses wanted; empty means all of them.

    ``marker`` names the NVTX ranges that mark steps; where it is None they are looked for. ``ranks`` is what the user
    says of ranks.

    ``evidence`` names files that tell more of the run: logs, tables, other exports.
    ``ceilings`` are what such machines were measured to reach.

    ``nsys`` and ``keep_exports_in`` say how reports are exported: with which nsys, and which folder keeps the exports.
    """

    window: WindowChoice = msgspec.field(default_factory=WindowChoice)
    gpu: str | None = None
    marker: str | None = None
    ranks: RankChoice = msgspec.field(default_factory=RankChoice)
    only: tuple[str, ...] = ()
    evidence: tuple[Path, ...] = ()
    hash_content: bool = False
    keep_identity: bool = False
    ceilings: Ceilings | None = None
    nsys: str | None = None
    keep_exports_in: Path | None = None
    throughput: ThroughputOptions = msgspec.field(default_factory=ThroughputOptions)

    def recorded(self) -> dict[str, OptionValue]:
        """The options as ``run.json`` keeps them: none of them holds a path."""
        return {
            "from_ns": self.window.from_ns,
            "to_ns": self.window.to_ns,
            "range": None if self.window.nvtx_range is None else display_text(self.window.nvtx_range),
            "gpu": self.gpu,
            "marker": None if self.marker is None else display_text(self.marker),
            "ranks": [f"{display_text(name)}={rank}" for name, rank in self.ranks.ranks.items()],
            "world_size": self.ranks.world_size,
            "only": list(self.only),
            "evidence": [display_text(path.name) for path in self.evidence],
            "hash": self.hash_content,
            "keep_identity": self.keep_identity,
            "peak_flop_per_s": self.throughput.peak_flop_per_s,
            "dtype": None if self.throughput.dtype is None else display_text(self.throughput.dtype),
            "price": self.throughput.price,
            "model": _digest(self.throughput.model),
            "smaller": _digest(self.throughput.smaller),
            "ceilings": _digest(self.ceilings),
        }


def analyze(
    paths: Sequence[Path], options: AnalyzeOptions, progress: Progress = UNWATCHED, read: Reading = read_here
) -> Run:
    """The Run of these report files, which ``read`` reads; of several one that cannot be read costs itself alone.

    Raises InputError, UsageError or MissingToolError; writes only kept exports.
    """
    wanted = wanted_analyses(options.only)
    originals, copy_notes = without_copies(paths)
    order = _order(options, originals, wanted, progress)
    keep_freed_memory()
    readable, broken_notes = reports_of(originals, read_reports(originals, order, read))
    reports, repeat_notes = without_repeats(readable)
    traces = [report.trace for report in reports]
    beside, evidence_notes = without_copies(options.evidence)
    evidence = read_evidence(beside, progress, keep_identity=options.keep_identity)
    traces, payload_notes = with_payloads(traces, evidence)
    traces, call_notes = with_profiled_calls(traces, evidence, options.ranks.world_size)
    progress.begin("finding GPUs and what ran on them")
    job = _job_of(reports, traces, options, evidence, replace(options.ranks, left_out_count=len(broken_notes)))
    results = with_throughput(answers(job, wanted, progress, _parts(reports, job)), options.throughput, job)
    findings = find_all(results)
    results = with_costs(results, findings)
    return Run(
        schema_version=SCHEMA_VERSION,
        nsysan_version=__version__,
        created_utc=now_utc(),
        options=options.recorded(),
        provenance=_provenance(traces, keep_identity=options.keep_identity),
        reports=_report_infos(traces, job.collectives, _clocks(job, wanted), reads_all=not options.only),
        notes=(
            *copy_notes,
            *broken_notes,
            *repeat_notes,
            *evidence_notes,
            *payload_notes,
            *call_notes,
            *(shapes_not_taken_notes(job, results) if any(one.id == Gemms.id for one in wanted) else ()),
            *_unreadable_notes(traces),
            *_range_notes(options.window),
            *job.notes,
            *_rank_notes(traces, job.collectives, compares=_compares_ranks(wanted)),
            *_left_out_notes(job),
            *_unmarked_notes(job, results),
        ),
        results=results,
        diagnosis=diagnose(results, findings),
        findings=findings,
    )


def _parts(reports: Sequence[ReadReport], job: Job) -> list[OfReport]:
    """What the reports answered by themselves, if they did."""
    return [one.answers.among(report, job) for report, one in enumerate(reports) if one.answers is not None]


def _digest(given: object) -> str | None:
    """What tells two models, runs or ceilings apart without their paths; None where none was given."""
    return None if given is None else text_hash(repr(given))


def _order(options: AnalyzeOptions, paths: Sequence[Path], wanted: Sequence[Analysis], progress: Progress) -> Order:
    """What is to be read of the reports: of whole windows sums or answers may do, and no more travels."""
    is_plain = options.window == WindowChoice() and not options.evidence
    of_host = any(analysis.of_host for analysis in wanted)
    of_sums = is_plain and not of_host and all(analysis.of_sums for analysis in wanted)
    by_themselves = is_plain and not of_sums and len(paths) > 1 and all(analysis.merge for analysis in wanted)
    by_themselves = by_themselves and options.gpu is None and options.marker is None
    return Order(
        nsys=options.nsys,
        hash_content=options.hash_content,
        progress=progress,
        keep_exports_in=options.keep_exports_in,
        with_host=options.window.nvtx_range is not None or of_host,
        details=frozenset().union(*(analysis.details for analysis in wanted)),
        fold=FoldedWork() if of_sums else None,
        questions=tuple(analysis.id for analysis in wanted) if by_themselves else (),
    )


def _job_of(
    reports: Sequence[ReadReport],
    traces: Sequence[Trace],
    options: AnalyzeOptions,
    evidence: Evidence,
    ranks: RankChoice,
) -> Job:
    """The job of the reports, whose traces may have been told more meanwhile."""
    told = [report.answers.notes for report in reports if report.answers is not None]
    if any(report.work is not None for report in reports):
        job = build_folded_job(traces, [report.work for report in reports], options.gpu, ranks, told)
    else:
        job = build_job(traces, options.window, options.gpu, options.marker, ranks, evidence=evidence)
    return replace(job, ceilings=options.ceilings)


def _compares_ranks(wanted: Sequence[Analysis]) -> bool:
    """Whether any answer may set one rank against others."""
    return any(analysis.merge is None or analysis.of_communication for analysis in wanted)


def _unreadable_notes(traces: Sequence[Trace]) -> Iterator[Note]:
    for trace in traces:
        for table, count in trace.unreadable_records.items():
            rows = f"{counted(count, 'row')} of {table} in {display_text(trace.name)}"
            yield Note("unreadable_records", f"Left out for want of usable values: {rows}.")


def _range_notes(window: WindowChoice) -> Iterator[Note]:
    if window.nvtx_range is not None:
        yield Note(
            "range_on_cpu", "The window is the range's time on the CPU; GPU work launched in it may run after its end."
        )


def _rank_notes(traces: Sequence[Trace], collectives: JobCollectives, *, compares: bool) -> Iterator[Note]:
    """What is to be known of ranks, where they have anything to do with each other."""
    if len(collectives.members) > 1 and collectives.has_operations:
        yield from rank_notes(collectives.ranks)
        yield from naming_notes(traces, collectives) if compares else ()
        yield from sessions_apart_notes(traces)


def _left_out_notes(job: Job) -> Iterator[Note]:
    """What cannot be told of ranks where ``--gpu`` leaves some of them out."""
    ranks, devices = len(job.collectives.members), len(job.devices)
    if ranks > devices and job.collectives.has_operations:
        yield Note(
            "ranks_left_out",
            f"--gpu keeps {devices} of {counted(ranks, 'rank')}: waits are those of all, but why a rank is late, and "
            "the share that ranks wait, take the work of the others and are null.",
        )


def _unmarked_notes(job: Job, results: ResultSet) -> Iterator[Note]:
    """Which devices have no steps where others have."""
    steps = results.get(Steps)
    if isinstance(steps, Skipped):
        return
    known = {device.id for device in steps.steps.devices}
    missing = [device.id for device in job.devices if device.id not in known]
    if missing:
        have = f"{len(missing)} of {counted(len(job.devices), 'device')} {'has' if len(missing) == 1 else 'have'}"
        told = f"{have} no steps that can be told ({first_names(missing)}): what is said of steps is of the others."
        yield Note("devices_without_steps", told)


def _provenance(traces: Sequence[Trace], *, keep_identity: bool) -> Provenance:
    identity = tuple(trace.identity for trace in traces) if keep_identity else None
    return Provenance(tool=f"nsysan {__version__}", identity=identity)


def _clocks(job: Job, wanted: Sequence[Analysis]) -> FittedClocks:
    """The common clock; one report has it anyway, and how well its ranks' ends agree is told where that is of use."""
    pairs_ends = _compares_ranks(wanted) and (len(job.traces) > 1 or any(analysis.of_host for analysis in wanted))
    return job.collectives.fitted_clocks if pairs_ends else job.collectives.session_clocks


def _report_infos(
    traces: Sequence[Trace], collectives: JobCollectives, clocks: FittedClocks, *, reads_all: bool
) -> tuple[ReportInfo, ...]:
    found = zip(traces, clocks.offset_ns, clocks.drift_frac, clocks.residual_ns, strict=True)
    return tuple(
        ReportInfo(
            name=display_text(trace.name),
            fingerprint=f"{trace.fingerprint.size_bytes}-{trace.fingerprint.head_tail_sha256}",
            sha256=trace.fingerprint.sha256,
            size_bytes=trace.fingerprint.size_bytes,
            reader=trace.reader,
            profiler=trace.profiler,
            nsys_version=None if trace.nsys_version is None else display_text(trace.nsys_version),
            export_schema=None if trace.export_schema is None else display_text(trace.export_schema),
            capture_ns=trace.capture_ns,
            session_start_utc_ns=None if trace.session_start_utc_ns is None else str(trace.session_start_utc_ns),
            rank=collectives.rank_of_report(report),
            rank_source=collectives.rank_source,
            world_size=collectives.ranks.world_size,
            clock_offset_ns=offset_ns,
            clock_drift_frac=drift_frac,
            clock_residual_ns=residual_ns,
            unreadable_records=dict(trace.unreadable_records),
            software=trace.software,
            recorded=recorded_kinds(trace) if reads_all else None,
        )
        for report, (trace, offset_ns, drift_frac, residual_ns) in enumerate(found)
    )
