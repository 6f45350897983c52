"""The data types of products: how cuBLASLt calls them, random numbers in them, and how exact a product must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import msgspec
import numpy as np
import numpy.typing as npt

from nsysan.model.ceilings import Dtype, Transposes

Bytes = npt.NDArray[np.uint8]
Reals = npt.NDArray[np.float64]

# cudaDataType and cublasComputeType_t
_R_32F, _R_64F, _R_16F, _R_8I, _R_32I, _R_16BF, _R_8F_E4M3, _R_4F_E2M1 = 0, 1, 2, 3, 10, 14, 28, 33
_COMPUTE_32F, _COMPUTE_64F, _COMPUTE_32I, _COMPUTE_TF32 = 68, 70, 72, 77
_VEC16_UE4M3, _VEC32_UE8M0 = 1, 2
_ONE_UE4M3, _ONE_UE8M0 = 0x38, 0x7F
_BLOCK_COUNT = 1_000_003
"""Random elements that a matrix repeats: prime, so that no two of its columns are alike."""


class GemmType(msgspec.Struct, frozen=True):
    """How a data type is multiplied.

    ``factor``, ``result``, ``compute`` and ``scale`` are numbers of cuBLASLt. ``scale_every`` elements along k share a
    scale in ``scale_mode``, each of which is the byte ``scale_one``; 0: one number for all. An element of the product
    may be off by ``of_result`` of itself and ``of_sum`` of the sum of |a b|.
    """

    factor: int
    result: int
    compute: int
    scale: int
    of_result: float
    of_sum: float
    transposes: tuple[Transposes, ...] = tuple(Transposes)
    scale_mode: int = 0
    scale_every: int = 0
    scale_one: int = 0
    accumulates_fast: bool = False


_TN = (Transposes.TN,)

GEMM_TYPES: Mapping[Dtype, GemmType] = {
    Dtype.FP64: GemmType(_R_64F, _R_64F, _COMPUTE_64F, _R_64F, 2**-52, 2**-45),
    Dtype.FP32: GemmType(_R_32F, _R_32F, _COMPUTE_32F, _R_32F, 2**-23, 2**-18),
    Dtype.TF32: GemmType(_R_32F, _R_32F, _COMPUTE_TF32, _R_32F, 2**-23, 2**-9),
    Dtype.BF16: GemmType(_R_16BF, _R_16BF, _COMPUTE_32F, _R_32F, 2**-8, 2**-18),
    Dtype.FP16: GemmType(_R_16F, _R_16F, _COMPUTE_32F, _R_32F, 2**-10, 2**-18),
    Dtype.FP8: GemmType(
        _R_8F_E4M3, _R_16BF, _COMPUTE_32F, _R_32F, 2**-8, 2**-10, transposes=_TN, accumulates_fast=True
    ),
    Dtype.INT8: GemmType(_R_8I, _R_32I, _COMPUTE_32I, _R_32I, 0.0, 0.0, transposes=_TN),
    Dtype.MXFP8: GemmType(
        _R_8F_E4M3,
        _R_16BF,
        _COMPUTE_32F,
        _R_32F,
        2**-8,
        2**-10,
        transposes=_TN,
        scale_mode=_VEC32_UE8M0,
        scale_every=32,
        scale_one=_ONE_UE8M0,
    ),
    Dtype.NVFP4: GemmType(
        _R_4F_E2M1,
        _R_16BF,
        _COMPUTE_32F,
        _R_32F,
        2**-8,
        2**-10,
        transposes=_TN,
        scale_mode=_VEC16_UE4M3,
        scale_every=16,
        scale_one=_ONE_UE4M3,
    ),
}


class Block(msgspec.Struct, frozen=True, eq=False):
    """Random elements as a GPU holds them, and their values; a matrix repeats them."""

    bytes: bytes
    values: Reals

    def at(self, places: npt.NDArray[np.int64]) -> Reals:
        """The values at these places of a matrix filled with the block."""
        found: Reals = self.values[places % len(self.values)]
        return found


@cache
def random_block(factor: int, seed: int) -> Block:
    """Normally distributed elements of a type, the same for the same seed: power and clocks hang on the data.

    Of int8 the deviation is 32, of fp4, which has 15 values, all are as likely.
    """
    generator = np.random.default_rng(seed)
    if factor == _R_4F_E2M1:
        pairs = generator.integers(0, 256, _BLOCK_COUNT, dtype=np.uint8)
        both = np.stack([pairs & 15, pairs >> 4], axis=1).ravel()
        return Block(pairs.tobytes(), _small_float_values(2, 1)[both])
    normal = generator.standard_normal(_BLOCK_COUNT)
    return _ENCODERS[factor](normal)


def decoded(data: bytes, result: int) -> Reals:
    """The values of elements of a product."""
    if result == _R_16BF:
        return _bf16_values(np.frombuffer(data, np.uint16))
    return np.frombuffer(data, _NUMPY_TYPES[result]).astype(np.float64)


def element_bits(number: int) -> int:
    """How many bits an element of a type of cuBLASLt has."""
    return {_R_64F: 64, _R_32F: 32, _R_32I: 32, _R_16F: 16, _R_16BF: 16, _R_4F_E2M1: 4}.get(number, 8)


def _as_numpy(number: int) -> Callable[[Reals], Block]:
    def encode(normal: Reals) -> Block:
        stored = normal.astype(_NUMPY_TYPES[number])
        return Block(stored.tobytes(), stored.astype(np.float64))

    return encode


def _as_int8(normal: Reals) -> Block:
    stored = np.clip(np.rint(normal * 32), -127, 127).astype(np.int8)
    return Block(stored.tobytes(), stored.astype(np.float64))


def _as_bf16(normal: Reals) -> Block:
    stored = (normal.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return Block(stored.tobytes(), _bf16_values(stored))


def _as_e4m3(normal: Reals) -> Block:
    """The nearest of the numbers below 256; the two bytes of NaN lie beyond."""
    positive = _small_float_values(4, 3)[:120]
    nearest = np.searchsorted((positive[1:] + positive[:-1]) / 2, np.abs(normal)).astype(np.uint8)
    stored = nearest | np.where(normal < 0, 0x80, 0).astype(np.uint8)
    return Block(stored.tobytes(), np.where(normal < 0, -1.0, 1.0) * positive[nearest])


def _bf16_values(stored: npt.NDArray[np.uint16]) -> Reals:
    return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


@cache
def _small_float_values(exponent_bits: int, mantissa_bits: int) -> Reals:
    """The value of each code of a small floating-point number: sign, exponent, mantissa."""
    codes = np.arange(1 << (1 + exponent_bits + mantissa_bits))
    mantissa = (codes & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
    exponent = (codes >> mantissa_bits) & ((1 << exponent_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    size = np.where(exponent == 0, mantissa * 2.0 ** (1 - bias), (1 + mantissa) * 2.0 ** (exponent - bias))
    values: Reals = np.where(codes >> (exponent_bits + mantissa_bits), -size, size)
    return values


_NUMPY_TYPES: Mapping[int, type[np.generic]] = {
    _R_64F: np.float64,
    _R_32F: np.float32,
    _R_16F: np.float16,
    _R_32I: np.int32,
}
_ENCODERS: Mapping[int, Callable[[Reals], Block]] = {
    _R_64F: _as_numpy(_R_64F),
    _R_32F: _as_numpy(_R_32F),
    _R_16F: _as_numpy(_R_16F),
    _R_8I: _as_int8,
    _R_16BF: _as_bf16,
    _R_8F_E4M3: _as_e4m3,
}
