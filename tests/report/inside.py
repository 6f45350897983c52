"""Results of memory, counters, occupancy and host made by hand."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.counters import CounterMeans, Counters, CountersOfGpu, PartFracs, PartSamples
from nsysan.analysis.gpu_contexts import GpuContext
from nsysan.analysis.host import HostReport, HostView
from nsysan.analysis.launches import Launches, LaunchesOfDevice
from nsysan.analysis.launching_threads import LaunchingThread, SampledFunction
from nsysan.analysis.memory import Memory, MemoryOfGpu, MemoryReport, MemorySource, PageFaultsOfDevice
from nsysan.analysis.memory_in_steps import MemoryInSteps
from nsysan.analysis.named_calls import CallsOfName
from nsysan.analysis.network_counters import NetworkCounter
from nsysan.analysis.recomputation import Recomputation, RecomputationOfDevice, RecomputedKernel
from nsysan.analysis.synchronization import Synchronization, SynchronizationOfDevice, SynchronizationSource
from nsysan.analysis.theoretical_occupancy import Occupancy, OccupancyOfKernel
from nsysan.hardware.occupancy import Limiter
from nsysan.model.confidence import Confidence
from nsysan.model.counters import Counter
from nsysan.model.stages import StageSource

DEVICE = "r0/p100/d0"
GB = 1_000_000_000
CURVE = ((10, 40 * GB), (20, 60 * GB), (28, 50 * GB), (30, 50 * GB))
PEAK = MemoryOfGpu("gpu1", MemorySource.DRIVER_RESERVED, 80 * GB, 0, 60 * GB, 20, 50 * GB, 9, CURVE)
FULL = Memory(
    MemoryReport(
        gpus=(replace(PEAK, gpu="gpu0", peak_bytes=50 * GB), PEAK),
        in_steps=(MemoryInSteps(DEVICE, 5, 10, 4_000_000, 5, 2, 8_000_000, 1_000_000),),
        page_faults=(),
        unknown={"page_faults": "the trace holds no page faults"},
    )
)
AGAIN = Recomputation(
    (RecomputationOfDevice(DEVICE, StageSource.RANGES, Confidence.HIGH, 5, 40, 25, 60, 100, 0.25),),
    (RecomputedKernel("flash_fwd", "0", 40, 25),),
)
NO_PARTS = PartFracs(*[None] * 7)
IDLE = replace(NO_PARTS, idle_frac=0.0)


def means(counter: Counter, window: float, parts: PartFracs = NO_PARTS) -> CounterMeans:
    """A counter whose window is known, and as much of the parts."""
    return CounterMeans(counter, 1, window, None, parts)


def sampled(gpu: str | None, *found: CounterMeans) -> CountersOfGpu:
    """A GPU with these counters; None: it is not known which."""
    return CountersOfGpu(gpu, 0, 10, 100_000, 1_000_000, PartSamples(*[0] * 7), None, found)


SAMPLED = Counters(
    (
        sampled("gpu0", means(Counter.SM_ACTIVE, 0.8, IDLE), means(Counter.TENSOR_ACTIVE, 0.4)),
        sampled("gpu1", means(Counter.SM_ACTIVE, 0.6), means(Counter.TENSOR_ACTIVE, 0.2)),
    ),
    (NetworkCounter(0, "mlx5_0", 1, "IB: Bytes sent", "bytes/ms", 5, 1_234.5, 2_000),),
)
CALLS = CallsOfName("cudaFree", 3, 6_000_000, 5_000_000, 2_000_000.0, 3_000_000)
THREAD = LaunchingThread(0, 100, 101, 1_000, 2_500.0, 5_000_000, None, None, None, None)
OWN = GpuContext(0, 0, "gpu0", 100, is_recorded=True, turn_count=2, resident_ns=9_000_000, in_idle_ns=0)
FOREIGN = replace(OWN, pid=900, is_recorded=False, resident_ns=3_000_000, in_idle_ns=2_000_000)
HOST = HostReport(
    cuda_calls=(CALLS,),
    os_calls=(),
    threads=(THREAD,),
    functions=(SampledFunction("forward", 3, 0.75),),
    gpu_contexts=(OWN, FOREIGN),
    runs_mps=False,
    unknown={},
)
OCCUPANCY = Occupancy((OccupancyOfKernel("gemm", "0", 2, 5_000, 0.1875, 0.125, Limiter.SHARED_MEMORY),), 0.1875, 3)
FAULTS = Memory(replace(FULL.memory, page_faults=(PageFaultsOfDevice(DEVICE, 5, 60, None),), unknown={}))
LAUNCHES = Launches((LaunchesOfDevice(DEVICE, 4, 4, 16, 45.0, None, 0.5, 0.5, 0, 0, 0),))
WAITS = Synchronization((SynchronizationOfDevice(DEVICE, SynchronizationSource.CUDA_CALLS, 4, 98, 3, 95),))

INSIDE = (FAULTS, AGAIN, SAMPLED, OCCUPANCY, HostView(HOST))
