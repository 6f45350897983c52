"""Traces of many kernels, made as columns, for what has to stay small and fast with them."""

from __future__ import annotations

import numpy as np

from nsysan.analysis.registry import analyses
from nsysan.analysis.timeline import Timeline
from nsysan.attribution.job import build_job
from nsysan.model.profilers import Profiler
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.tables import ABSENT, Kernels, NvtxRanges, RuntimeCalls
from nsysan.model.trace import PID_SHIFT, CaptureIdentity, Fingerprint, Trace

_NAMES = 500
_RANGE_NAMES = 20_000
_STREAMS = 6
_CALLS = 900
_CALL_NAMES = ("cudaLaunchKernel", "cudaLaunchKernel", "cudaMemcpy", "cudaMalloc", "cudaDeviceSynchronize")


def random_kernels(gpu_count: int, kernels_per_gpu: int) -> Trace:
    """Kernels of 500 long names and NCCL on six streams of each GPU, with gaps, calls and NVTX ranges, all random."""
    random = np.random.default_rng(0)
    shape = (gpu_count, kernels_per_gpu)
    lengths_ns, pauses_ns = random.integers(2_000, 60_000, shape), random.integers(0, 9_000, shape)
    starts_ns = (np.cumsum(lengths_ns + pauses_ns, axis=1) - lengths_ns).ravel()
    count = starts_ns.size
    # some reach into the next ones
    ends_ns = starts_ns + lengths_ns.ravel() + random.integers(0, 20_000, count)
    processes = np.repeat(1_000 + np.arange(gpu_count), kernels_per_gpu) << PID_SHIFT
    names = {index: f"void kernel_{index}<{'x' * (index % 300)}>" for index in range(_NAMES)}
    names |= {_NAMES: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"}
    names |= {_CALLS + index: name for index, name in enumerate(_CALL_NAMES)}
    names |= {
        1_000 + index: f"aten::op, seq = {index}, sizes = [[{index}, 4096, 4096]]" for index in range(_RANGE_NAMES)
    }
    ones = np.ones(count, dtype=np.int64)
    kernels = Kernels(
        start_ns=starts_ns,
        end_ns=ends_ns,
        global_pid=processes,
        device_id=0 * ones,
        context_id=ones,
        stream_id=random.integers(7, 7 + _STREAMS, count),
        correlation_id=np.arange(count),
        name_id=random.integers(0, _NAMES + 1, count),
    )
    ranges = NvtxRanges(
        start_ns=starts_ns,
        end_ns=starts_ns + 30_000,
        global_tid=processes + 1,
        domain_id=0 * ones,
        name_id=1_000 + random.integers(0, _RANGE_NAMES, count),
        event_type=59 * ones,
        end_global_tid=ABSENT * ones,
    )
    return Trace(
        name="long.sqlite",
        reader="nsys_sqlite",
        profiler=Profiler.NSYS,
        fingerprint=Fingerprint(0, "", None),
        identity=CaptureIdentity(None, None, None, ""),
        nsys_version=None,
        export_schema=None,
        capture_ns=int(ends_ns.max()),
        session_start_utc_ns=None,
        gpus=(),
        cuda_devices=(),
        strings=names,
        kernels=kernels,
        copies=None,
        memsets=None,
        graph_launches=None,
        nvtx_ranges=ranges,
        nvtx_domains={},
        unreadable_records={},
        runtime_calls=_calls(kernels, random),
    )


def _calls(kernels: Kernels, random: np.random.Generator) -> RuntimeCalls:
    """A launch of each kernel on its process' thread, some slow and some late, and now and then a synchronisation."""
    before_ns, lengths_ns = random.integers(1_000, 60_000, len(kernels)), random.integers(1_000, 150_000, len(kernels))
    starts_ns = np.maximum(kernels.start_ns - before_ns, 0)
    return RuntimeCalls(
        start_ns=starts_ns,
        end_ns=starts_ns + lengths_ns,
        global_tid=kernels.global_pid + 1,
        correlation_id=kernels.correlation_id,
        name_id=_CALLS + random.integers(0, len(_CALL_NAMES), len(kernels)),
        event_class=0 * starts_ns,
    )


def results_of_random_kernels(gpu_count: int, kernels_per_gpu: int) -> ResultSet:
    """Everything there is to say about such a trace."""
    job, results = build_job([random_kernels(gpu_count, kernels_per_gpu)]), ResultSet({})
    for analysis in analyses():
        results = results.with_result(analysis.id, analysis.compute(job, results))
    return results


def timeline_of_random_kernels(gpu_count: int, kernels_per_gpu: int) -> Timeline:
    """The timeline alone."""
    timeline = results_of_random_kernels(gpu_count, kernels_per_gpu).get(Timeline)
    assert not isinstance(timeline, Skipped)
    return timeline
