"""Peaks by arithmetic: SMs x clock x floating-point operations of an SM in a clock, dense, accumulated in fp32."""

from __future__ import annotations

from collections.abc import Mapping

from nsysan.model.ceilings import Dtype

_RATES_PER_CLOCK_OF_SM: Mapping[tuple[int, int], Mapping[Dtype, int]] = {
    (7, 0): {Dtype.FP64: 64, Dtype.FP32: 128, Dtype.FP16: 1024},
    (7, 5): {Dtype.FP64: 4, Dtype.FP32: 128, Dtype.FP16: 1024, Dtype.INT8: 2048},
    (8, 0): {
        Dtype.FP64: 128,
        Dtype.FP32: 128,
        Dtype.TF32: 1024,
        Dtype.BF16: 2048,
        Dtype.FP16: 2048,
        Dtype.INT8: 4096,
    },
    (8, 6): {Dtype.FP64: 4, Dtype.FP32: 256, Dtype.TF32: 512, Dtype.BF16: 1024, Dtype.FP16: 1024, Dtype.INT8: 2048},
    (8, 9): {
        Dtype.FP64: 4,
        Dtype.FP32: 256,
        Dtype.TF32: 512,
        Dtype.BF16: 1024,
        Dtype.FP16: 1024,
        Dtype.FP8: 2048,
        Dtype.INT8: 2048,
    },
    (9, 0): {
        Dtype.FP64: 256,
        Dtype.FP32: 256,
        Dtype.TF32: 2048,
        Dtype.BF16: 4096,
        Dtype.FP16: 4096,
        Dtype.FP8: 8192,
        Dtype.INT8: 8192,
    },
    (10, 0): {
        Dtype.FP64: 128,
        Dtype.FP32: 256,
        Dtype.TF32: 4096,
        Dtype.BF16: 8192,
        Dtype.FP16: 8192,
        Dtype.FP8: 16384,
        Dtype.MXFP8: 16384,
        Dtype.NVFP4: 32768,
        Dtype.INT8: 16384,
    },
    (10, 3): {
        Dtype.FP64: 4,
        Dtype.FP32: 256,
        Dtype.TF32: 4096,
        Dtype.BF16: 8192,
        Dtype.FP16: 8192,
        Dtype.FP8: 16384,
        Dtype.MXFP8: 16384,
        Dtype.NVFP4: 49152,
        Dtype.INT8: 512,
    },
    (12, 0): {
        Dtype.FP64: 4,
        Dtype.FP32: 256,
        Dtype.TF32: 512,
        Dtype.BF16: 1024,
        Dtype.FP16: 1024,
        Dtype.FP8: 2048,
        Dtype.MXFP8: 2048,
        Dtype.NVFP4: 4096,
        Dtype.INT8: 2048,
    },
}
"""By compute capability. 12.0 has fp8 at this rate on GeForce too: 600 TFLOP/s were measured on an RTX 5090. Of 10.3
fp64 and int8 are cut, and fp4 is half as fast again as that of 10.0."""
_HALVED_ON_GEFORCE: Mapping[tuple[int, int], tuple[Dtype, ...]] = {
    (8, 6): (Dtype.TF32, Dtype.BF16, Dtype.FP16),
    (8, 9): (Dtype.TF32, Dtype.BF16, Dtype.FP16, Dtype.FP8),
    (12, 0): (Dtype.TF32, Dtype.BF16, Dtype.FP16),
}
"""GeForce does half of these where it accumulates in fp32."""


def peak_flop_per_s(
    capability: tuple[int, int], sm_count: int, sm_clock_hz: float, *, is_geforce: bool
) -> dict[Dtype, float]:
    """Operations per second by data type, tensor cores included; empty where the capability is not known."""
    halved = _HALVED_ON_GEFORCE.get(capability, ()) if is_geforce else ()
    rates = _RATES_PER_CLOCK_OF_SM.get(capability, {})
    return {dtype: rate * sm_count * sm_clock_hz / (2 if dtype in halved else 1) for dtype, rate in rates.items()}
