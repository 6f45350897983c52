"""What the host did while the GPUs were at work: calls, waits, the threads that launch, and who else used the GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from nsysan.analysis.gpu_contexts import GpuContext, gpu_contexts
from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.launching_threads import (
    LaunchingThread,
    SampledFunction,
    has_stacks,
    sampled_functions,
    threads_that_launch,
)
from nsysan.analysis.named_calls import CallsOfName, cuda_calls, os_calls
from nsysan.analysis.registry import Analysis
from nsysan.attribution.job import Job
from nsysan.model.details import Detail
from nsysan.model.profilers import RECORD_HOST, Profiler
from nsysan.model.results import ResultSet, Skipped


class HostReport(msgspec.Struct, frozen=True):
    """Calls by name, threads, functions and contexts; ``unknown`` says of what could not be looked at what to record.

    ``runs_mps`` says whether a server of CUDA's Multi-Process Service was among the processes, null where no report
    tells its processes; through it several processes share a context of the GPU.
    """

    cuda_calls: tuple[CallsOfName, ...]
    os_calls: tuple[CallsOfName, ...]
    threads: tuple[LaunchingThread, ...]
    functions: tuple[SampledFunction, ...]
    gpu_contexts: tuple[GpuContext, ...]
    runs_mps: bool | None
    unknown: dict[str, str]


class HostView(msgspec.Struct, frozen=True):
    """The host of the job."""

    id: ClassVar[str] = "host"

    host: HostReport


def compute_host(job: Job, _results: ResultSet) -> HostView | Skipped:
    """What the host did in the windows; skipped where neither calls nor switches of a GPU were recorded."""
    if not job.gpus:
        return no_gpu_work(HostView.id, job)
    if not any(len(threads.host.calls) or threads.host.trace.gpu_switches for threads in job.idle.threads):
        recapture = RECORD_HOST.by({trace.profiler for trace in job.traces})
        return Skipped(HostView.id, "the trace holds no CUDA calls", recapture)
    told = [trace.runs_mps for trace in job.traces if trace.runs_mps is not None]
    return HostView(
        HostReport(
            cuda_calls=cuda_calls(job),
            os_calls=os_calls(job),
            threads=threads_that_launch(job),
            functions=sampled_functions(job),
            gpu_contexts=gpu_contexts(job),
            runs_mps=any(told) if told else None,
            unknown=dict(_unknown(job)),
        )
    )


ANALYSIS = Analysis(HostView, compute_host, details=frozenset({Detail.CPU_SAMPLES, Detail.GPU_SWITCHES}))


def _unknown(job: Job) -> Iterator[tuple[str, str]]:
    """Of each list for which no report has a table, how to record it with the profiler that was used."""
    only_torch = {trace.profiler for trace in job.traces} == {Profiler.TORCH}
    for key, table, lacking, option in (
        ("cuda_calls", "runtime_calls", "CUDA calls", "-t cuda"),
        ("os_calls", "os_calls", "calls of the operating system", "-t osrt"),
        ("off_core", "scheduling_events", "scheduling of threads", "--cpuctxsw=process-tree"),
        ("functions", "cpu_samples", "samples of threads", "--sample=process-tree"),
        ("gpu_contexts", "gpu_switches", "context switches of GPUs", "--gpuctxsw=true"),
    ):
        # an export of every table has empty ones for what was not recorded
        if not any(getattr(trace, table) for trace in job.traces):
            how = "PyTorch's profiler does not record them." if only_torch else f"Record with {option}."
            yield key, f"could not look: the trace holds no {lacking}. {how}"
        elif key == "functions" and not any(map(has_stacks, job.traces)):
            yield key, "could not look: threads were sampled, but the export holds no stacks"
