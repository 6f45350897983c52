"""Ceilings of few figures, for tests."""

from __future__ import annotations

from typing import Any

from nsysan.model.ceilings import (
    SCHEMA_VERSION,
    Algorithm,
    Ceilings,
    CollectiveCurve,
    CurvePoint,
    Direction,
    Dtype,
    GemmCeiling,
    HostMemory,
    LinkCeiling,
    MeasuredGpu,
    MemoryCeiling,
    Mode,
    Origin,
    Pattern,
    Regime,
    Timing,
    Transposes,
)
from nsysan.model.kernels import Collective

H100 = MeasuredGpu("NVIDIA H100 80GB HBM3", "9.0", 132, memory_bytes=85_000_000_000, sm_clock_most_hz=1.98e9)


def ceilings(**changed: Any) -> Ceilings:
    """Measured ceilings of an H100 that hold nothing but what is given."""
    given: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "nsysan_version": "0",
        "origin": Origin.MEASURED,
        "source": "a test",
        "created_utc": "2026-01-01T00:00:00Z",
        "gpus": (H100,),
    }
    return Ceilings(**{**given, **changed})


def gemm(  # noqa: PLR0913 - what tells one from another
    m: int, n: int, k: int, tflop_per_s: float, *, dtype: Dtype = Dtype.BF16, regime: Regime = Regime.SUSTAINED
) -> GemmCeiling:
    return GemmCeiling(
        dtype=dtype,
        transposes=Transposes.TN,
        m=m,
        n=n,
        k=k,
        regime=regime,
        algorithm=Algorithm.BEST,
        flop_per_s=tflop_per_s * 1e12,
    )


def memory(gb_per_s: float) -> MemoryCeiling:
    return MemoryCeiling(pattern=Pattern.TRIAD, size_bytes=1 << 30, bytes_per_s=gb_per_s * 1e9)


def host_link(size_bytes: int, gb_per_s: float) -> LinkCeiling:
    return LinkCeiling(
        direction=Direction.HOST_TO_DEVICE,
        host_memory=HostMemory.PINNED,
        gpu=0,
        peer=None,
        size_bytes=size_bytes,
        bytes_per_s=gb_per_s * 1e9,
    )


def curve(  # noqa: PLR0913 - what tells one from another
    times_us: dict[int, float],
    kind: Collective = Collective.ALL_REDUCE,
    ranks: int = 8,
    *,
    nodes: int = 1,
    factor: float = 1.75,
    timing: Timing = Timing.ISOLATED,
) -> CollectiveCurve:
    """A curve through times by size."""
    points = []
    for size_bytes, time_us in times_us.items():
        algbw = size_bytes / time_us * 1e6
        point = CurvePoint(
            size_bytes=size_bytes,
            each_ns=time_us * 1e3,
            algbw_bytes_per_s=algbw,
            busbw_bytes_per_s=algbw * factor or None,
        )
        points.append(point)
    return CollectiveCurve(
        kind=kind,
        dtype="bf16",
        in_place=False,
        rank_count=ranks,
        node_count=nodes,
        mode=Mode.PROCESS_PER_GPU,
        timing=timing,
        registered=False,
        nccl_version="2.28.9",
        points=tuple(points),
    )
