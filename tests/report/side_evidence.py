"""What a training log, a monitor and a scheduler say, made by hand."""

from __future__ import annotations

from nsysan.analysis.gpu_samples import GpuSamplesSummary, SampledGpus, SampledGpuSummary
from nsysan.analysis.logged_times import StepTimeSource
from nsysan.analysis.scheduler_jobs import SchedulerAccounts, SchedulerJobSummary
from nsysan.analysis.training_logs import TrainingLogs, TrainingLogSummary
from nsysan.model.gpu_samples import Monitor
from nsysan.model.training_log import LogFormat

LOG = TrainingLogSummary(
    name="train.log",
    format=LogFormat.MEGATRON,
    line_count=120,
    first_step=10,
    last_step=1_200,
    run_count=2,
    is_resumed=True,
    repeated_count=0,
    omitted_count=0,
    skipped_count=11,
    step_ns=3_066_000.0,
    step_source=StepTimeSource.TIMER,
    cadence_ns=3_400_000.0,
    timer_ns=3_060_000.0,
    unaccounted_ns=340_000.0,
    tokens_per_s=98_760.4,
    tokens_source="batch times sequence length over the time of a step",
    tokens_per_gpu_per_s=None,
    samples_per_s=24.11,
    world_size=8,
    trace_step_ns=7_433_000.0,
    slowdown=7_433_000 / 3_066_000,
    is_perturbed=True,
)
TRAINING_LOGS = TrainingLogs((LOG,))


def sampled(label: str, clock_mhz: int) -> SampledGpuSummary:
    """A GPU at work at that clock."""
    return SampledGpuSummary(
        label=label,
        is_instance=False,
        sample_count=600,
        busy_count=580,
        blank_count=2,
        gap_count=1,
        sm_clock_hz=clock_mhz * 1e6,
        power_w=512.25,
        temperature_c=83.0,
        utilization_frac=0.99,
        graphics_active_frac=None,
        sm_active_frac=0.625,
        sm_occupancy_frac=None,
        tensor_active_frac=None,
        dram_active_frac=None,
    )


RECORDING = GpuSamplesSummary(
    "dmon.txt", Monitor.NVIDIA_SMI, 1, 0, 0, (sampled("GPU 0", 1_755), sampled("GPU 1", 1_300))
)
GPU_SAMPLES = SampledGpus((RECORDING,))
JOB = SchedulerJobSummary("jobs.txt", "4711", "COMPLETED", 3_000_000_000_000, 90_001_000_000_000, 16, 128)
SCHEDULER_JOBS = SchedulerAccounts((JOB,))
