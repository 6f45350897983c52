"""The tables of what training logs, monitors, the scheduler and profiles say."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.gpu_samples import GpuSamplesSummary, SampledGpuSummary
from nsysan.analysis.profiles import ProfileSummary
from nsysan.analysis.scheduler_jobs import SchedulerJobSummary
from nsysan.analysis.training_logs import TrainingLogSummary
from nsysan.model.units import counted, format_clock
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.evidence_sentences import FORMATS, is_yet_to_begin
from nsysan.report.prose import capitalized, spelled
from nsysan.report.terms import TERMS


def training_table(logs: Sequence[TrainingLogSummary]) -> Table | None:
    """A row for each training log; None where there is none."""
    if not logs:
        return None
    return Table(
        id="training-log-rows",
        caption="Training logs beside the trace",
        columns=(
            Column("Log", notes="program and lines"),
            Column("step in the log", TERMS["logged_step"], numeric=True, unit="ns"),
            Column("step in the trace", TERMS["logged_step"], numeric=True, unit="ns"),
            Column("from line to line", TERMS["logged_step"], numeric=True, unit="ns"),
            Column("outside its timer", TERMS["logged_step"], numeric=True, unit="ns"),
            Column("throughput", TERMS["tokens_per_s"], numeric=True, unit="1/s", notes="of what"),
            Column("samples a second", TERMS["logged_samples"], numeric=True, unit="1/s"),
        ),
        rows=tuple(_training_row(log) for log in logs),
        source="training_logs[]",
    )


def samples_table(recordings: Sequence[GpuSamplesSummary]) -> Table | None:
    """A row for each GPU of each recording; None where there is none."""
    rows = tuple(_sampled_row(recording, gpu) for recording in recordings for gpu in recording.gpus)
    if not rows:
        return None
    return Table(
        id="sampled-gpu-rows",
        caption="What monitors sampled",
        columns=(
            Column("GPU", notes="recording"),
            Column("samples", TERMS["monitored"], numeric=True),
            Column("clock at work", TERMS["monitored"], numeric=True, unit="Hz"),
            Column("power", TERMS["monitored"], numeric=True, unit="W"),
            Column("hottest", TERMS["monitored"], numeric=True, unit="°C"),
            Column("any kernel", TERMS["monitored"], numeric=True),
            Column("SMs active", TERMS["monitored"], numeric=True),
            Column("tensor active", TERMS["monitored"], numeric=True),
            Column("DRAM active", TERMS["monitored"], numeric=True),
        ),
        rows=rows,
        source="gpu_samples[].gpus[]",
    )


def job_table(jobs: Sequence[SchedulerJobSummary]) -> Table | None:
    """A row for each job; None where there is none."""
    if not jobs:
        return None
    return Table(
        id="scheduler-job-rows",
        caption="What the scheduler accounts",
        columns=(
            Column("Job", notes="log"),
            Column("state"),
            Column("in the queue", TERMS["scheduled"], numeric=True, unit="ns"),
            Column("run time", TERMS["scheduled"], numeric=True, unit="ns"),
            Column("nodes", TERMS["scheduled"], numeric=True),
            Column("GPUs", TERMS["scheduled"], numeric=True),
        ),
        rows=tuple(_job_row(job) for job in jobs),
        source="scheduler_jobs[]",
    )


def profile_table(profiles: Sequence[ProfileSummary]) -> Table | None:
    """A row for each device of each profile; None where none tells of memory."""
    rows = tuple(
        (
            Cell(profile.name, f"device {memory.device_id}", style="name"),
            cells.number(profile.rank),
            cells.number(profile.world_size),
            cells.size(memory.used_peak_bytes),
            cells.size(memory.reserved_peak_bytes),
        )
        for profile in profiles
        for memory in profile.memory
    )
    if not rows:
        return None
    return Table(
        id="profile-rows",
        caption="What PyTorch's allocator took in profiled runs",
        columns=(
            Column("Profile", notes="device"),
            Column("rank", numeric=True),
            Column("ranks", numeric=True),
            Column("in use at most", numeric=True, unit="B"),
            Column("reserved at most", numeric=True, unit="B"),
        ),
        rows=rows,
        source="profiles[].memory[]",
    )


def _training_row(log: TrainingLogSummary) -> tuple[Cell, ...]:
    lines = f"{capitalized(FORMATS[log.format])}, {counted(log.line_count, 'line')}"
    return (
        Cell(log.name, lines, style="name"),
        _duration(log.step_ns),
        _duration(log.trace_step_ns),
        _duration(log.cadence_ns),
        _duration(log.unaccounted_ns),
        _throughput(log),
        cells.UNKNOWN if log.samples_per_s is None else Cell(f"{log.samples_per_s:,.2f}", value=log.samples_per_s),
    )


def _throughput(log: TrainingLogSummary) -> Cell:
    """Tokens of the whole job, or of one GPU where the log tells no more."""
    if log.tokens_per_s is not None:
        return Cell(f"{log.tokens_per_s:,.0f} tokens/s", log.tokens_source, value=log.tokens_per_s)
    if log.tokens_per_gpu_per_s is not None:
        return Cell(f"{log.tokens_per_gpu_per_s:,.0f} tokens/s", "of one GPU", value=log.tokens_per_gpu_per_s)
    return cells.UNKNOWN


def _sampled_row(recording: GpuSamplesSummary, gpu: SampledGpuSummary) -> tuple[Cell, ...]:
    told = (
        recording.name,
        None if not gpu.blank_count else f"{counted(gpu.blank_count, 'sample')} without a value",
        None if not gpu.gap_count else counted(gpu.gap_count, "gap"),
    )
    clock = gpu.sm_clock_hz
    return (
        Cell(gpu.label, ", ".join(part for part in told if part is not None)),
        cells.count(gpu.sample_count),
        cells.UNKNOWN if clock is None else Cell(format_clock(clock), value=clock),
        cells.UNKNOWN if gpu.power_w is None else Cell(f"{gpu.power_w:,.0f} W", value=gpu.power_w),
        cells.UNKNOWN if gpu.temperature_c is None else Cell(f"{gpu.temperature_c:.0f} °C", value=gpu.temperature_c),
        *(
            cells.UNKNOWN if share is None else cells.fraction(share, "unknown")
            for share in (gpu.utilization_frac, gpu.sm_active_frac, gpu.tensor_active_frac, gpu.dram_active_frac)
        ),
    )


def _job_row(job: SchedulerJobSummary) -> tuple[Cell, ...]:
    return (
        Cell(job.job, job.name, style="name"),
        cells.UNKNOWN if job.state is None else Cell(capitalized(spelled(job.state.lower()))),
        _duration(job.queue_ns),
        _duration(None if is_yet_to_begin(job) else job.run_ns),
        cells.number(job.nodes),
        cells.number(job.gpu_count),
    )


def _duration(duration_ns: float | None) -> Cell:
    return cells.UNKNOWN if duration_ns is None else cells.duration(duration_ns)
