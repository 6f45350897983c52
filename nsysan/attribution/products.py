"""Matrix products of known shape: the kernels that an operator launched whose range tells the shapes of its inputs.

A kernel's name tells neither m, n nor k, so nothing is guessed from it but the data type. PyTorch's operators tell
shapes: ``emit_nvtx(record_shapes=True)``, or its profiler with ``record_shapes=True``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Protocol

import msgspec
import numpy as np

from nsysan.attribution.devices import Device
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.host import Host
from nsysan.attribution.job import Job
from nsysan.attribution.kernels_of_class import are_of_class
from nsysan.attribution.told_shapes import Sides, operators_of
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.ceilings import Dtype
from nsysan.model.distinct import coded, first_rows, summed
from nsysan.model.kernels import KernelClass
from nsysan.model.tables import Kernels, Table
from nsysan.timeline.labelling import NOBODY

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

_KEPT_NAMES = 4096
"""Ranks have the same kernels: their names are looked at once."""


class ProductKind(msgspec.Struct, frozen=True):
    """Products of one shape and data type; ``dtype`` is null where no kernel's name tells it."""

    sides: Sides
    dtype: Dtype | None


class Products(Table, frozen=True):
    """A row an operator: the place of its kind, when its first kernel began, and how long its kernels took."""

    kind: Int64Array
    start_ns: Int64Array
    time_ns: Int64Array


class FoundProducts(msgspec.Struct, frozen=True, eq=False):
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

    @property
    def rank(self) -> int | None:
        """The rank that was recorded, None where nothing tells."""

    def operators_in(self, host: Host, launched: Int64Array, rows: Int64Array) -> Int64Array | None:
        """By kernel the number of its operator, NOBODY where it tells none; None where the device's do not fit."""


def find_products(job: Job, device: Device, profiled: Sequence[ShapesElsewhere] = ()) -> FoundProducts:
    """The products that a device did in its window, whole kernels only.

    Where its report tells no shapes, the first of ``profiled`` whose launches fit does, of those of the report's rank
    before others: ranks may multiply other shapes with the same kernels, as experts with more tokens do.
    """
    trace = job.traces[device.report]
    if trace.kernels is None:
        return FoundProducts((), Products(*[np.empty(0, np.int64)] * 3), 0)
    rows = _gemm_rows(job, device, trace.kernels)
    kernels = trace.kernels.take(rows)
    times_ns = kernels.end_ns - kernels.start_ns
    told = job.told_shapes[device.report]
    shapes: KnownShapes = told
    operator_of, source = operators_of(told, rows), None
    nearest = sorted(profiled, key=lambda one: one.rank is None or one.rank != trace.rank)
    for elsewhere in () if np.any(operator_of != NOBODY) else nearest:
        fitting = elsewhere.operators_in(told.host, device.rows_of("kernels").astype(np.int64), rows)
        if fitting is not None:
            shapes, operator_of, source = elsewhere, fitting, elsewhere.name
            break
    known = operator_of != NOBODY
    kinds, products = _by_operator(shapes, trace.strings, kernels.take(known), operator_of[known], times_ns[known])
    return FoundProducts(kinds, products, int(times_ns.sum()), source)


@lru_cache(_KEPT_NAMES)
def dtype_of_kernel(name: str) -> Dtype | None:
    """The data type of a product's factors, as far as the kernel's name tells it."""
    return next((dtype for dtype, pattern in _DTYPES if pattern.search(name)), None)


def _gemm_rows(job: Job, device: Device, kernels: Kernels) -> Int64Array:
    """The kernels of products that lie in the device's window."""
    rows = device.rows_of("kernels").astype(np.int64)
    begin_ns, end_ns = (int(bound) for bound in device.occupancy.bounds_ns[[0, -1]])
    rows = rows[(kernels.start_ns[rows] >= begin_ns) & (kernels.end_ns[rows] <= end_ns)]
    return rows[are_of_class(job.traces[device.report], kernels.name_id[rows], KernelClass.GEMM)]


def _by_operator(
    shapes: KnownShapes, texts: Mapping[int, str], kernels: Kernels, operator_of: Int64Array, times_ns: Int64Array
) -> tuple[tuple[ProductKind, ...], Products]:
    """A row an operator, of the kernels that it launched; its data type is that of the longest of them."""
    operators, place_of = coded(operator_of)
    longest = _longest(place_of, times_ns)
    kinds, kind_of = _kinds(shapes, shapes.names_of(operators), kernels.name_id[longest], texts)
    starts_ns = np.full(len(operators), np.iinfo(np.int64).max)
    np.minimum.at(starts_ns, place_of, kernels.start_ns)
    return kinds, Products(
        kind=kind_of,
        start_ns=starts_ns,
        time_ns=summed(times_ns, place_of, len(operators)),
    )


def _longest(place_of: IdArray, times_ns: Int64Array) -> Int64Array:
    """The first of each operator's kernels that takes longest; most operators have a single one."""
    found = first_rows(place_of)
    several = np.flatnonzero((np.bincount(place_of) > 1)[place_of])
    order = several[np.lexsort((-times_ns[several], place_of[several]))]
    is_first = np.diff(place_of[order], prepend=-1) != 0
    found[place_of[order[is_first]]] = order[is_first]
    return found


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
