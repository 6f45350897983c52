"""One product on the GPU: its matrices, and whether what comes out is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import numpy.typing as npt

from nsysan.calibrate.bench import Bench
from nsysan.calibrate.data_types import GEMM_TYPES, Block, GemmType, decoded, element_bits, random_block
from nsysan.calibrate.libraries import native
from nsysan.calibrate.sampling import batch
from nsysan.calibrate.shapes import Shape
from nsysan.model.ceilings import Dtype, Transposes

if TYPE_CHECKING:
    from nsysan.calibrate._native import Buffer, Gemm

_POISON = 0xFF
_CHECKED = 256
_CACHE_TIMES = 2
_MOST_SETS = 64

Operands = list[tuple["Buffer", "Buffer", "Buffer"]]
Places = npt.NDArray[np.int64]


class Matrices(msgspec.Struct, frozen=True, eq=False):
    """Sets of factors and products, as many as no cache holds, all factors filled with the same random blocks."""

    shape: Shape
    kind: GemmType
    sets: Operands
    scales: tuple[Buffer | None, Buffer | None]
    blocks: tuple[Block, Block]

    @classmethod
    def on(cls, bench: Bench, dtype: Dtype, shape: Shape) -> Matrices | None:
        """The matrices; None where the GPU has no room for them."""
        kind = GEMM_TYPES[dtype]
        sizes = _sizes_bytes(kind, shape)
        wanted = -(-_CACHE_TIMES * (bench.device.facts.l2_bytes or 0) // sum(sizes)) + 1
        fitting = bench.room_bytes // sum(sizes)
        if not fitting:
            return None
        blocks = random_block(kind.factor, 1), random_block(kind.factor, 2)
        sets = [_set(bench, sizes, blocks) for _ in range(min(wanted, fitting, _MOST_SETS))]
        return cls(shape, kind, sets, _scales(bench, kind, shape), blocks)

    def gemm(self, bench: Bench, workspace_bytes: int, algorithm_count: int) -> Gemm:
        """The product with as many algorithms as cuBLASLt proposes, up to so many."""
        shape, kind = self.shape, self.kind
        made = native().Product(
            m=shape.m,
            n=shape.n,
            k=shape.k,
            a_is_transposed=shape.transposes is Transposes.TN,
            b_is_transposed=shape.transposes is Transposes.NT,
            factor_type=kind.factor,
            result_type=kind.result,
            compute_type=kind.compute,
            scale_type=kind.scale,
            scale_mode=kind.scale_mode,
            a_scale=self.scales[0],
            b_scale=self.scales[1],
            accumulates_fast=kind.accumulates_fast,
        )
        gemm: Gemm = native().Gemm(
            bench.device, bench.cublaslt, made, workspace_bytes=workspace_bytes, algorithm_count=algorithm_count
        )
        return gemm

    def wrong_count(self, gemm: Gemm, algorithm: int) -> int:
        """How many of some 256 elements are wrong: the product is poisoned, done once, and held against fp64.

        Corners are among them, and where blocks of threads end.
        """
        product = self.sets[0][2]
        product.fill(_POISON)
        gemm.time(algorithm, self.sets[:1], batch(1, 1, is_held=False))
        rows, columns = _checked_places(self.shape)
        expected, sizes = self._expected(rows, columns)
        width = element_bits(self.kind.result) // 8
        found = decoded(
            b"".join(
                product.read(int(column * self.shape.m + row) * width, width)
                for row, column in zip(rows, columns, strict=True)
            ),
            self.kind.result,
        )
        allowed = self.kind.of_result * np.abs(expected) + self.kind.of_sum * sizes
        # a poisoned element is NaN, which is not within anything
        return int((~(np.abs(found - expected) <= allowed)).sum())

    def _expected(self, rows: Places, columns: Places) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The elements in fp64, and the sums of |a b|."""
        m, n, k = self.shape.m, self.shape.n, self.shape.k
        along = np.arange(k)
        transposes = self.shape.transposes
        a_places = rows[:, None] * k + along if transposes is Transposes.TN else along * m + rows[:, None]
        b_places = along * n + columns[:, None] if transposes is Transposes.NT else columns[:, None] * k + along
        terms = self.blocks[0].at(a_places) * self.blocks[1].at(b_places)
        return terms.sum(axis=1), np.abs(terms).sum(axis=1)


def _checked_places(shape: Shape) -> tuple[Places, Places]:
    generator = np.random.default_rng(3)
    rows = generator.integers(0, shape.m, _CHECKED)
    columns = generator.integers(0, shape.n, _CHECKED)
    rows[:4], columns[:4] = [0, 0, shape.m - 1, shape.m - 1], [0, shape.n - 1, 0, shape.n - 1]
    return rows, columns


def _sizes_bytes(kind: GemmType, shape: Shape) -> tuple[int, int, int]:
    counts = (shape.m * shape.k, shape.k * shape.n)
    a, b = (-(-count * element_bits(kind.factor) // 8) for count in counts)
    return a, b, shape.m * shape.n * element_bits(kind.result) // 8


def _set(bench: Bench, sizes: tuple[int, int, int], blocks: tuple[Block, Block]) -> tuple[Buffer, Buffer, Buffer]:
    a, b, d = (native().Buffer(bench.device, size) for size in sizes)
    a.tile(blocks[0].bytes)
    b.tile(blocks[1].bytes)
    d.fill(_POISON)
    return a, b, d


def _scales(bench: Bench, kind: GemmType, shape: Shape) -> tuple[Buffer | None, Buffer | None]:
    """A scale of one for every stretch of k. All are alike, so that it does not matter how cuBLASLt lays them out."""
    if not kind.scale_every:
        return None, None
    stretches = -(-shape.k // kind.scale_every)
    return _ones(bench, shape.m, stretches, kind.scale_one), _ones(bench, shape.n, stretches, kind.scale_one)


def _ones(bench: Bench, side: int, stretches: int, one: int) -> Buffer:
    rows, columns = -(-side // 128) * 128, -(-stretches // 4) * 4
    made: Buffer = native().Buffer(bench.device, rows * columns)
    made.fill(one)
    return made


def tried(dtype: Dtype, shapes: tuple[Shape, ...]) -> Iterator[Shape]:
    """The shapes in the ways of transposing that the data type has."""
    ways = GEMM_TYPES[dtype].transposes
    yield from dict.fromkeys(
        shape if shape.transposes in ways else Shape(shape.m, shape.n, shape.k, ways[0]) for shape in shapes
    )
