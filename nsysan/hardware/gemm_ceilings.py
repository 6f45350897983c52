"""What a matrix product of some shape can reach on a GPU: measured, between measured ones, or bounded by a roofline."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from nsysan.hardware.answers import Ceiling, Level, named
from nsysan.hardware.data_sheet_table import DataSheet
from nsysan.model.ceilings import Ceilings, Dtype, GemmCeiling, Regime

_NEIGHBOUR_OCTAVES = 1.5
"""How far, in powers of two along each side, a measured shape may be to tell of another."""
_FEWEST_NEIGHBOURS = 4
_BYTES = {
    Dtype.FP64: (8, 8),
    Dtype.FP32: (4, 4),
    Dtype.TF32: (4, 4),
    Dtype.BF16: (2, 2),
    Dtype.FP16: (2, 2),
    Dtype.FP8: (1, 2),
    Dtype.INT8: (1, 4),
    Dtype.MXFP8: (1, 2),
    Dtype.NVFP4: (0.5, 2),
}
"""Of an element of a factor and of the product."""


class Product(msgspec.Struct, frozen=True):
    """``batch`` products of an m x k and a k x n matrix."""

    dtype: Dtype
    m: int
    n: int
    k: int
    batch: int = 1

    @property
    def flop(self) -> int:
        """A multiplication and an addition for each of m n k, of all of the batch."""
        return 2 * self.batch * self.m * self.n * self.k

    @property
    def moved_bytes(self) -> float:
        """Both factors read and the product written, once."""
        factor, product = _BYTES[self.dtype]
        return self.batch * (factor * (self.m * self.k + self.k * self.n) + product * self.m * self.n)


def gemm_ceiling(ceilings: Ceilings | None, sheet: DataSheet | None, product: Product) -> Ceiling | None:
    """FLOP/s that the product can reach; None where nothing is known of its data type.

    The fastest measurement of the shape counts, whichever factor was transposed: a trace does not tell that. Between
    shapes, what counts is the share of their roofline that they reach.
    """
    found = None if ceilings is None else _measured(ceilings, product)
    return found or _of_sheet(sheet, product)


def memory_ceiling(ceilings: Ceilings | None, sheet: DataSheet | None) -> Ceiling | None:
    """Bytes per second that kernels can stream through device memory."""
    best = max((one.bytes_per_s for one in ceilings.memory), default=None) if ceilings is not None else None
    if ceilings is not None and best is not None:
        return Ceiling(best, Level.EXACT, named(ceilings, "stream through device memory"))
    if sheet is None or sheet.memory_bytes_per_s is None:
        return None
    return Ceiling(sheet.memory_bytes_per_s, Level.DATA_SHEET, sheet.source)


def peak_ceiling(ceilings: Ceilings | None, sheet: DataSheet | None, dtype: Dtype) -> Ceiling | None:
    """FLOP/s that the best product of this data type reaches."""
    if ceilings is not None and (known := _usable(ceilings, dtype)):
        best = max(known, key=lambda one: one.flop_per_s)
        shape = f"{dtype.value} {best.m} x {best.n} x {best.k}"
        return Ceiling(best.flop_per_s, Level.EXACT, named(ceilings, shape))
    if sheet is None or dtype not in sheet.flop_per_s:
        return None
    return Ceiling(sheet.flop_per_s[dtype], Level.DATA_SHEET, sheet.source)


def _measured(ceilings: Ceilings, product: Product) -> Ceiling | None:
    known = _usable(ceilings, product.dtype)
    if not known:
        return None
    sides = {(product.m, product.n, product.k), (product.n, product.m, product.k)}
    same = [one.flop_per_s for one in known if (one.m, one.n, one.k) in sides]
    if same and product.batch == 1:
        return Ceiling(max(same), Level.EXACT, named(ceilings, f"{product.dtype.value} of this shape"))
    peak, memory = max(one.flop_per_s for one in known), memory_ceiling(ceilings, None)
    bound = _roofline(product, peak, None if memory is None else memory.rate)
    near = _neighbours(known, product)
    if len(near) >= _FEWEST_NEIGHBOURS and product.batch == 1:
        share = _mean_share(near, peak, None if memory is None else memory.rate, product)
        source = named(ceilings, f"{product.dtype.value}, between {len(near)} shapes")
        return Ceiling(share * bound, Level.INTERPOLATED, source)
    return Ceiling(bound, Level.ROOFLINE, named(ceilings, f"{product.dtype.value} peak and memory rate"))


def _usable(ceilings: Ceilings, dtype: Dtype) -> list[GemmCeiling]:
    """Those of the data type; bursts only where nothing was sustained, for a trace is no burst."""
    of_dtype = [one for one in ceilings.gemm if one.dtype is dtype]
    return [one for one in of_dtype if one.regime is Regime.SUSTAINED] or of_dtype


def _roofline(product: Product, peak: float, memory_bytes_per_s: float | None) -> float:
    if memory_bytes_per_s is None:
        return peak
    return min(peak, product.flop / product.moved_bytes * memory_bytes_per_s)


def _octaves(one: GemmCeiling, product: Product) -> float:
    """The largest distance of a side, in powers of two; the shape may lie on its side."""
    upright = [abs(math.log2(a / b)) for a, b in zip((one.m, one.n, one.k), _sides(product), strict=True)]
    lying = [abs(math.log2(a / b)) for a, b in zip((one.n, one.m, one.k), _sides(product), strict=True)]
    return min(max(upright), max(lying))


def _sides(product: Product) -> tuple[int, int, int]:
    return product.m, product.n, product.k


def _neighbours(known: Sequence[GemmCeiling], product: Product) -> list[GemmCeiling]:
    """Measured shapes nearby, of each the fastest measurement."""
    fastest: dict[tuple[int, int, int], GemmCeiling] = {}
    for one in sorted(known, key=lambda one: one.flop_per_s):
        if _octaves(one, product) <= _NEIGHBOUR_OCTAVES:
            fastest[one.m, one.n, one.k] = one
    return list(fastest.values())


def _mean_share(near: Sequence[GemmCeiling], peak: float, memory_bytes_per_s: float | None, product: Product) -> float:
    """The share of their rooflines that the neighbours reach, the nearer the more it counts."""
    weights = [1 / (_octaves(one, product) ** 2 + 0.01) for one in near]
    shares = [
        one.flop_per_s / _roofline(Product(one.dtype, one.m, one.n, one.k), peak, memory_bytes_per_s) for one in near
    ]
    # a cache may let a small product outrun the memory's roofline; a larger one will not
    capped = [min(share, 1.0) for share in shares]
    return sum(weight * share for weight, share in zip(weights, capped, strict=True)) / sum(weights)


def _of_sheet(sheet: DataSheet | None, product: Product) -> Ceiling | None:
    if sheet is None or product.dtype not in sheet.flop_per_s:
        return None
    bound = _roofline(product, sheet.flop_per_s[product.dtype], sheet.memory_bytes_per_s)
    return Ceiling(bound, Level.DATA_SHEET, sheet.source)
