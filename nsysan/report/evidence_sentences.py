"""What training logs, monitors, the scheduler and profiles say, a sentence or two each, with the file that says it."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.analysis.gpu_samples import GpuSamplesSummary, SampledGpus
from nsysan.analysis.log_agreement import Apart, agrees
from nsysan.analysis.logged_times import StepTimeSource
from nsysan.analysis.profiles import Profiles, ProfileSummary
from nsysan.analysis.scheduler_jobs import SchedulerAccounts, SchedulerJobSummary
from nsysan.analysis.training_logs import TrainingLogs, TrainingLogSummary, apart
from nsysan.findings.log_step_time import because
from nsysan.model.gpu_samples import Monitor
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.training_log import LogFormat
from nsysan.model.units import (
    HZ_PER_MHZ,
    counted,
    format_bytes,
    format_clock,
    format_count,
    format_duration,
    format_fraction,
)
from nsysan.report.prose import spelled

FORMATS = {
    LogFormat.TIMER: "step timer",
    LogFormat.MEGATRON: "Megatron",
    LogFormat.NEMO: "NeMo",
    LogFormat.DEEPSPEED: "DeepSpeed",
    LogFormat.TORCHTITAN: "torchtitan",
    LogFormat.PROGRESS_BAR: "progress bar",
}
"""What each format is called."""
_MONITORS = {
    Monitor.NVIDIA_SMI: "nvidia-smi dmon",
    Monitor.DCGMI: "dcgmi dmon",
    Monitor.DCGM_EXPORTER: "The DCGM exporter",
}
_SHOWN_JOBS = 5
_SHOWN_PROFILES = 5
_HOW = {
    StepTimeSource.TIMER: "by its timer",
    StepTimeSource.CADENCE: "by when its lines were written",
    StepTimeSource.BAR: "by its progress bar",
}


def logs_of(run: Run) -> tuple[TrainingLogSummary, ...]:
    """The training logs that were given."""
    found = run.results.get(TrainingLogs)
    return () if isinstance(found, Skipped) else found.training_logs


def recordings_of(run: Run) -> tuple[GpuSamplesSummary, ...]:
    """The recordings of monitors that were given."""
    found = run.results.get(SampledGpus)
    return () if isinstance(found, Skipped) else found.gpu_samples


def jobs_of(run: Run) -> tuple[SchedulerJobSummary, ...]:
    """The jobs that were accounted."""
    found = run.results.get(SchedulerAccounts)
    return () if isinstance(found, Skipped) else found.scheduler_jobs


def profiles_of(run: Run) -> tuple[ProfileSummary, ...]:
    """The profiles that were given."""
    found = run.results.get(Profiles)
    return () if isinstance(found, Skipped) else found.profiles


def evidence_sentences(run: Run) -> Iterator[str]:
    """All of them, in the order of the tables."""
    logs = logs_of(run)
    for log in logs:
        yield from _step_sentences(log, apart(log, logs))
        yield from _further_sentences(log)
    for recording in recordings_of(run):
        yield _clock_sentence(recording)
    for job in jobs_of(run)[:_SHOWN_JOBS]:
        yield _job_sentence(job)
    for profile in profiles_of(run)[:_SHOWN_PROFILES]:
        yield _profile_sentence(profile)


def is_yet_to_begin(job: SchedulerJobSummary) -> bool:
    """Whether the scheduler accounts no time because the job waits for its turn."""
    return job.state == "PENDING" and not job.run_ns


def _step_sentences(log: TrainingLogSummary, why: Apart | None) -> Iterator[str]:
    steps = f"steps {format_count(log.first_step)} to {format_count(log.last_step)}"
    if log.step_ns is None or log.step_source is None:
        yield f"{log.name} ({FORMATS[log.format]}) tells of {steps}, and not how long they take."
        return
    took = f"A step takes {format_duration(log.step_ns)} {_HOW[log.step_source]}, says {log.name} of {steps}"
    if log.slowdown is None or log.trace_step_ns is None:
        yield f"{took}; the trace shows no steps to hold it against."
        return
    difference = format_fraction(abs(log.slowdown - 1))
    if agrees(log.slowdown):
        yield f"{log.name} and trace agree on step time within {difference}: {format_duration(log.step_ns)}."
        return
    cause = "" if why is None else f": {because(log, why)}"
    yield f"{log.name} and trace disagree on step time by {difference}{cause}."
    yield f"{took}, and {format_duration(log.trace_step_ns)} in the trace."


def _further_sentences(log: TrainingLogSummary) -> Iterator[str]:
    if log.unaccounted_ns is not None and log.cadence_ns is not None:
        yield (
            f"From step to step {format_duration(log.cadence_ns)} pass by {log.name}, of which "
            f"{format_duration(log.unaccounted_ns)} lie outside its timer."
        )
    told = (
        None if log.run_count == 1 else f"its steps begin again {counted(log.run_count - 1, 'time')}",
        "it goes on from a checkpoint" if log.is_resumed else None,
        f"{counted(log.skipped_count, 'iteration')} updated nothing, and lines that tell of such do not count"
        if log.skipped_count
        else None,
        f"{counted(log.omitted_count, 'later line')} were not read" if log.omitted_count else None,
    )
    if parts := [part for part in told if part is not None]:
        yield f"Of {log.name}: {'; '.join(parts)}."


def _clock_sentence(recording: GpuSamplesSummary) -> str:
    instance_count = sum(gpu.is_instance for gpu in recording.gpus)
    whole = counted(len(recording.gpus) - instance_count, "GPU")
    instances = f" and {counted(instance_count, 'MIG instance')}" if instance_count else ""
    who = f"{_MONITORS[recording.monitor]} sampled {whole}{instances}"
    clocks_hz = [gpu.sm_clock_hz for gpu in recording.gpus if gpu.sm_clock_hz is not None]
    if not clocks_hz:
        told = "and no clock of one at work"
    elif len(clocks_hz) == 1:
        told = f"at {format_clock(clocks_hz[0])} at work"
    else:
        told = f"whose clocks at work {_range(min(clocks_hz), max(clocks_hz))}"
    start = "" if recording.first_line == 1 else f" from line {format_count(recording.first_line)} on"
    return f"{who} {told}, says {recording.name}{start}."


def _range(low_hz: float, high_hz: float) -> str:
    low, high = f"{low_hz / HZ_PER_MHZ:,.0f}", f"{high_hz / HZ_PER_MHZ:,.0f}"
    return f"are all {high} MHz" if low == high else f"lie between {low} and {high} MHz"


def _job_sentence(job: SchedulerJobSummary) -> str:
    waited = None if job.queue_ns is None else f"waited {format_duration(job.queue_ns)} in the queue"
    ran = None if job.run_ns is None else f"ran {format_duration(job.run_ns)}"
    if is_yet_to_begin(job):
        ran = "has not begun"
    did = " and ".join(part for part in (waited, ran) if part is not None) or "is accounted without times"
    nodes = "" if job.nodes is None else f" on {counted(job.nodes, 'node')}"
    gpus = "" if job.gpu_count is None else f" with {counted(job.gpu_count, 'GPU')}"
    state = "" if job.state is None else f" ({spelled(job.state.lower())})"
    return f"Job {job.job}{state} {did}{nodes}{gpus}, says {job.name}."


def _profile_sentence(profile: ProfileSummary) -> str:
    world = "" if profile.world_size is None else f" of {format_count(profile.world_size)}"
    who = "a rank that it does not name" if profile.rank is None else f"rank {profile.rank}{world}"
    fullest = max(profile.memory, key=lambda memory: memory.used_peak_bytes, default=None)
    if fullest is None:
        return f"{profile.name} profiles {who}, and tells nothing of memory: it lacks profile_memory=True."
    used, reserved = map(format_bytes, (fullest.used_peak_bytes, fullest.reserved_peak_bytes))
    return f"{profile.name} profiles {who}, whose allocator had {used} in use at most, and {reserved} reserved."
