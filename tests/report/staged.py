"""Stages and contention of runs made by hand."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.contention import (
    Contention,
    ContentionOfGpu,
    Overlap,
    QueuedCommunication,
    SameStream,
    SlowedKernel,
    Waits,
)
from nsysan.analysis.stages import Stages, StagesOfDevice, StageTime, ToldBy
from nsysan.model.confidence import Confidence
from nsysan.model.partition import PartTimes
from nsysan.model.stages import Stage

MS = 1_000_000
RANGES, MOSTLY_ORDER = ToldBy(1.0, 0.0, 0.0), ToldBy(0.0, 0.25, 0.75)


def stage(
    name: Stage | None, time: PartTimes, host_ms: int | None, told: ToldBy | None, sure: Confidence | None
) -> StageTime:
    return StageTime(name, time.window_ns, time.window_ns / (100 * MS), time, host_ms and host_ms * MS, told, sure)


DEVICE = StagesOfDevice(
    device="gpu0/p100",
    count=4,
    step_ns=100 * MS,
    coverage_frac=0.9,
    confidence=Confidence.HIGH,
    stages=(
        stage(Stage.DATA, PartTimes(0, 0, 0, 0, 0, 0, 20 * MS), 30, RANGES, Confidence.HIGH),
        stage(Stage.BACKWARD, PartTimes(30 * MS, 20 * MS, 0, 0, 0, 0, 0), 60, MOSTLY_ORDER, Confidence.LOW),
        stage(Stage.GRADIENT_SYNC, PartTimes(0, 0, 0, 0, 20 * MS, 0, 0), 0, ToldBy(0, 1, 0), Confidence.MEDIUM),
        stage(None, PartTimes(10 * MS, 0, 0, 0, 0, 0, 0), 10, None, None),
    ),
    list=(),
)

GPU = ContentionOfGpu(
    gpu="gpu0",
    communication_count=10,
    communication_ns=100 * MS,
    hidden_ns=60 * MS,
    overlap=Overlap(12, 50 * MS, 10 * MS, 40 * MS),
    queued=Waits(2, 3 * MS),
    waiting=Waits(1, 7 * MS),
    same_stream=SameStream(1, 20 * MS, 0.2),
)
QUIET = replace(GPU, gpu="gpu1", overlap=None, queued=None, waiting=None, same_stream=SameStream(0, 0, 0.0))
SLOWED = SlowedKernel("gpu0", "sgemm", "0" * 16, (4, 2, 1), (256, 1, 1), 3, 10_000, 12, 12_500, 30_000)
QUEUED = QueuedCommunication("gpu0", "ncclDevKernel_AllReduce", 5 * MS, 2 * MS, "sgemm")

STAGED = (Stages((DEVICE,)), Contention((GPU, QUIET), (SLOWED,), (QUEUED,)))
