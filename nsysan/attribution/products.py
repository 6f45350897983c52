"""Matrix products of known shape: the kernels that an operator launched whose range tells the shapes of its inputs.

A kernel's name tells neither m, n nor k, so nothing is guessed from it but the data type. PyTorch's operators tell
shapes: ``emit_nvtx(record_shapes=True)``, or its profiler with ``record_shapes=True``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

import numpy as np

from nsysan.attribution.grouping import codes_of
from nsysan.attribution.host import Host
from nsysan.attribution.job import Device, Job
from nsysan.attribution.kernels_of_class import are_of_class
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.ranges.names import SIZES, parse_operator
from nsysan.model.ceilings import Dtype
from nsysan.model.distinct import coded, distinct, first_rows, summed
from nsysan.model.kernels import KernelClass
from nsysan.model.tables import IdArray, Int64Array, Kernels, Table
from nsysan.timeline.labelling import NOBODY, innermost

_MOST_SIDE = 1 << 40
"""A longer side is damage."""
_DTYPES = (
    (Dtype.NVFP4, re.compile(r"nvfp4|e2m1", re.IGNORECASE)),
    (Dtype.MXFP8, re.compile(r"mxf8|mxfp8|ue8m0", re.IGNORECASE)),
    (Dtype.FP8, re.compile(r"e4m3|e5m2|fp8|qgmma|nvjet_(?:sm\d+_)?q", re.IGNORECASE)),
    (Dtype.BF16, re.compile(r"bf16|bfloat16|nvjet_(?:sm\d+_)?t", re.IGNORECASE)),
    (Dtype.TF32, re.compile(r"tf32|tfloat32|s1688gemm(?!_(?:fp16|bf16|f16))|s1688\w*tf32", re.IGNORECASE)),
    (Dtype.FP16, re.compile(r"fp16|f16|half_t|__half|hgemm|h\d{3,5}gemm|nvjet_(?:sm\d+_)?h", re.IGNORECASE)),
    (Dtype.INT8, re.compile(r"int8|imma|igemm|i8i8|s8_?s8", re.IGNORECASE)),
    (Dtype.FP64, re.compile(r"dgemm|d884|f64|double", re.IGNORECASE)),
    (Dtype.FP32, re.compile(r"sgemm|ffma|simt_s|f32f32_f32f32", re.IGNORECASE)),
)
"""What in a kernel's name tells the data type of its factors, the surest first."""


@dataclass(frozen=True, slots=True, order=True)
class Sides:
    """``batch`` products of an m x k and a k x n matrix."""

    m: int
    n: int
    k: int
    batch: int = 1

    @property
    def flop(self) -> int:
        """2 m n k of each product."""
        return 2 * self.batch * self.m * self.n * self.k


@dataclass(frozen=True, slots=True)
class ProductKind:
    """Products of one shape and data type; ``dtype`` is null where no kernel's name tells it."""

    sides: Sides
    dtype: Dtype | None


@dataclass(frozen=True, slots=True, eq=False)
class Products(Table):
    """A row an operator: the place of its kind, when its first kernel began, and how long its kernels took."""

    kind: Int64Array
    start_ns: Int64Array
    time_ns: Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class FoundProducts:
    """The products of a device in its window; ``gemm_ns`` is the time of all its kernels that multiply.

    ``source`` names the profile that tells the shapes, where not the report itself does.
    """

    kinds: tuple[ProductKind, ...]
    products: Products
    gemm_ns: int
    source: str | None = None

    @property
    def known_ns(self) -> int:
        """The time of those whose shape is known."""
        return int(self.products.time_ns.sum())


class ToldShapes:
    """The ranges of a report that tell what their operator multiplies, read once for all its devices."""

    def __init__(self, host: Host) -> None:
        self.host = host
        # texts that tell shapes are few, however many ranges have them
        texts = ((name_id, text) for name_id, text in host.trace.strings.items() if SIZES in text)
        told = ((name_id, sides_of_operator(text)) for name_id, text in texts)
        self._sides = {name_id: sides for name_id, sides in told if sides is not None}
        self._tells = np.isin(host.ranges.name_id, list(self._sides))

    def ranges_of(self, thread: int) -> Int64Array:
        """The rows of those on a thread, ascending."""
        rows = self.host.stacked_by_thread.of(thread)
        return np.sort(rows[self._tells[rows]])

    def names_of(self, operators: Int64Array) -> IdArray:
        """The texts of these ranges: ranges are many, their texts as few as shapes."""
        return self.host.ranges.name_id[operators]

    def sides_of(self, names: IdArray) -> list[Sides]:
        """What ranges of these texts multiply."""
        return [self._sides[name_id] for name_id in names.tolist()]


class KnownShapes(Protocol):
    """What tells the shapes of operators."""

    def names_of(self, operators: Int64Array) -> IdArray:
        """A number of each of these operators that those of the same text share."""

    def sides_of(self, names: IdArray) -> list[Sides]:
        """What operators of these numbers multiply."""


class ShapesElsewhere(KnownShapes, Protocol):
    """What another recording tells of operators."""

    @property
    def name(self) -> str:
        """What the recording is called."""

    def operators_in(self, host: Host, launched: Int64Array, rows: Int64Array) -> Int64Array | None:
        """By kernel the number of its operator, NOBODY where it tells none; None where the device's do not fit."""


def find_products(
    job: Job, device: Device, told: ToldShapes, profiled: Sequence[ShapesElsewhere] = ()
) -> FoundProducts:
    """The products that a device did in its window, whole kernels only; ``told`` are the shapes in its report.

    Where that tells none, the first of ``profiled`` whose launches fit does.
    """
    trace = job.traces[device.report]
    if trace.kernels is None:
        return FoundProducts((), Products(*[np.empty(0, np.int64)] * 3), 0)
    rows = _gemm_rows(job, device, trace.kernels)
    kernels = trace.kernels.take(rows)
    times_ns = kernels.end_ns - kernels.start_ns
    shapes: KnownShapes = told
    operator_of, source = operators_of(told, rows), None
    for elsewhere in () if np.any(operator_of != NOBODY) else profiled:
        fitting = elsewhere.operators_in(told.host, device.rows_of("kernels").astype(np.int64), rows)
        if fitting is not None:
            shapes, operator_of, source = elsewhere, fitting, elsewhere.name
            break
    known = operator_of != NOBODY
    kinds, products = _by_operator(shapes, trace.strings, kernels.take(known), operator_of[known], times_ns[known])
    return FoundProducts(kinds, products, int(times_ns.sum()), source)


def dtype_of_kernel(name: str) -> Dtype | None:
    """The data type of a product's factors, as far as the kernel's name tells it."""
    return next((dtype for dtype, pattern in _DTYPES if pattern.search(name)), None)


def sides_of_operator(text: str) -> Sides | None:
    """The product that an operator's range tells of: ``aten::mm, op_id = 7, sizes = [[8, 4], [4, 2]]``.

    None of other operators, and where the shapes do not fit each other.
    """
    parsed = parse_operator(text)
    shapes = [] if parsed.sizes is None else [shape for shape in parsed.sizes if isinstance(shape, list)]
    place = _FACTORS_AT.get(parsed.operator)
    factors = [] if place is None else shapes[place : place + 2]
    if len(factors) < 2 or not all(_is_shape(factor) for factor in factors):  # noqa: PLR2004 - two factors
        return None
    one, other = factors
    sides = _linear(one, other) if parsed.operator == "aten::linear" else _multiplied(one, other)
    return sides if sides is not None and min(sides.m, sides.n, sides.k, sides.batch) > 0 else None


_FACTORS_AT: Mapping[str, int] = {
    "aten::mm": 0,
    "aten::bmm": 0,
    "aten::addmm": 1,
    "aten::baddbmm": 1,
    "aten::_scaled_mm": 0,
    "aten::_int_mm": 0,
    "aten::linear": 0,
}
"""The operators that are one product, and which of their inputs are the factors."""


def _is_shape(shape: Sequence[object]) -> bool:
    return all(isinstance(side, int) and 0 <= side <= _MOST_SIDE for side in shape)


def _multiplied(one: Sequence[int], other: Sequence[int]) -> Sides | None:
    if len(one) != len(other) or len(one) not in {2, 3} or one[-1] != other[-2] or one[:-2] != other[:-2]:
        return None
    return Sides(m=one[-2], n=other[-1], k=one[-1], batch=prod(one[:-2]))


def _linear(inputs: Sequence[int], weight: Sequence[int]) -> Sides | None:
    """The weight of a linear layer has a row for each of what comes out."""
    if not inputs or len(weight) != 2 or inputs[-1] != weight[1]:  # noqa: PLR2004 - rows and columns
        return None
    return Sides(m=prod(inputs[:-1]), n=weight[0], k=weight[1])


def _gemm_rows(job: Job, device: Device, kernels: Kernels) -> Int64Array:
    """The kernels of products that lie in the device's window."""
    rows = device.rows_of("kernels").astype(np.int64)
    begin_ns, end_ns = (int(bound) for bound in device.occupancy.bounds_ns[[0, -1]])
    rows = rows[(kernels.start_ns[rows] >= begin_ns) & (kernels.end_ns[rows] <= end_ns)]
    return rows[are_of_class(job.traces[device.report], kernels.name_id[rows], KernelClass.GEMM)]


def operators_of(told: ToldShapes, kernel_rows: Int64Array) -> Int64Array:
    """By kernel the innermost operator with known shapes around its call, on the call's thread; else ``NOBODY``."""
    host, range_of = told.host, np.full(len(kernel_rows), NOBODY)
    if "kernels" not in host.launches.rows:
        return range_of
    calls = host.launches.rows["kernels"][kernel_rows]
    called = np.flatnonzero(calls != NO_CALL)
    threads = host.calls.global_tid[calls[called]]
    for thread in distinct(threads).tolist():
        ranges, own = told.ranges_of(thread), called[threads == thread]
        if len(ranges):
            labelling = innermost(host.ranges.start_ns[ranges], host.range_ends_ns[ranges])
            found = labelling.at(host.calls.start_ns[calls[own]])
            range_of[own] = np.where(found == NOBODY, NOBODY, ranges[np.maximum(found, 0)])
    return range_of


def _by_operator(
    shapes: KnownShapes, texts: Mapping[int, str], kernels: Kernels, operator_of: Int64Array, times_ns: Int64Array
) -> tuple[tuple[ProductKind, ...], Products]:
    """A row an operator, of the kernels that it launched; its data type is that of the longest of them."""
    operators, place_of = coded(operator_of)
    order = np.lexsort((-times_ns, place_of))
    longest = order[first_rows(codes_of(place_of[order]))] if len(order) else order
    kinds, kind_of = _kinds(shapes, shapes.names_of(operators), kernels.name_id[longest], texts)
    starts_ns = np.full(len(operators), np.iinfo(np.int64).max)
    np.minimum.at(starts_ns, place_of, kernels.start_ns)
    return kinds, Products(
        kind=kind_of,
        start_ns=starts_ns,
        time_ns=summed(times_ns, place_of, len(operators)),
    )


def _kinds(
    shapes: KnownShapes, operator_names: IdArray, kernel_names: IdArray, texts: Mapping[int, str]
) -> tuple[tuple[ProductKind, ...], Int64Array]:
    """The kinds in the order in which they come, and each operator's; operators are many, pairs of names few."""
    pairs = codes_of(operator_names, kernel_names)
    firsts = first_rows(pairs)
    sides_of = shapes.sides_of(operator_names[firsts])
    places: dict[ProductKind, int] = {}
    place_of = np.empty(len(firsts), np.int64)
    for pair in np.argsort(firsts).tolist():
        dtype = dtype_of_kernel(texts.get(int(kernel_names[firsts[pair]]), ""))
        place_of[pair] = places.setdefault(ProductKind(sides_of[pair], dtype), len(places))
    return tuple(places), place_of[pairs]
