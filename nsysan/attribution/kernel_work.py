"""What kernels were launched to do: launches of one name are alike where their product, or else their grid, is."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from nsysan.attribution.grouping import codes_of
from nsysan.attribution.kernels_of_class import are_of_class
from nsysan.attribution.told_shapes import Sides, ToldShapes, operators_of
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import coded, first_rows
from nsysan.model.kernels import KernelClass
from nsysan.model.tables import ABSENT, KernelDimensions
from nsysan.model.trace import Trace
from nsysan.timeline.labelling import NOBODY

UNKNOWN_SHAPE = "shape not known"
_NO_PRODUCT = -1


class KernelWork(msgspec.Struct, frozen=True):
    """A kernel's name and its shape: ``4096x1024x512`` of a product, else ``grid 64x32 block 256``."""

    name: str
    shape: str


def kernel_work(trace: Trace, told: ToldShapes, rows: IdArray) -> tuple[list[KernelWork], IdArray]:
    """The kinds of work of these rows of kernels, and for each row the place of its kind among them.

    A product whose shape an operator tells is known by m x n x k alone: with another grid it is the same work.
    """
    if trace.kernels is None or trace.kernel_dimensions is None or not len(rows):
        return [], np.empty(0, np.int64)
    name_ids, dimensions = trace.kernels.name_id[rows], trace.kernel_dimensions.take(rows)
    products, product_of = _products(trace, told, rows)
    columns = (np.where(product_of == _NO_PRODUCT, column, 0) for column in dimensions.columns().values())
    kinds = codes_of(name_ids, product_of, *columns)
    return [
        KernelWork(
            trace.text(int(name_ids[row])),
            _grid(dimensions, row) if product_of[row] == _NO_PRODUCT else _spelled(products[product_of[row]]),
        )
        for row in first_rows(kinds).tolist()
    ], kinds


def _products(trace: Trace, told: ToldShapes, rows: IdArray) -> tuple[list[Sides], Int64Array]:
    """The products among the rows, and by row which it is; kernels beside one, such as of a bias, are none."""
    product_of = np.full(len(rows), _NO_PRODUCT)
    if trace.kernels is None:
        return [], product_of
    gemms = np.flatnonzero(are_of_class(trace, trace.kernels.name_id[rows], KernelClass.GEMM))
    range_of = operators_of(told, rows[gemms].astype(np.int64))
    is_known = range_of != NOBODY
    # ranges are as many as products, their texts as few as shapes
    texts, text_of = coded(told.names_of(range_of[is_known]))
    sides = told.sides_of(texts)
    numbers = {one: number for number, one in enumerate(dict.fromkeys(sides))}
    product_of[gemms[is_known]] = np.array([numbers[one] for one in sides], np.int64)[text_of]
    return list(numbers), product_of


def _spelled(sides: Sides) -> str:
    product = _by(sides.m, sides.n, sides.k)
    return product if sides.batch == 1 else f"{sides.batch} of {product}"


def _grid(dimensions: KernelDimensions, row: int) -> str:
    values = [int(column[row]) for column in dimensions.columns().values()]
    if ABSENT in values:
        return UNKNOWN_SHAPE
    return f"grid {_by(*_shortened(values[:3]))} block {_by(*_shortened(values[3:]))}"


def _shortened(axes: list[int]) -> Iterable[int]:
    """The axes without those at the end that are one thick."""
    used = [place for place, size in enumerate(axes) if size != 1]
    return axes[: max(used, default=0) + 1]


def _by(*sizes: int) -> str:
    return "x".join(map(str, sizes))
