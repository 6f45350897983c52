"""Matrix products through cuBLASLt: sustained for all shapes, bursts for the anchors."""

from __future__ import annotations

import random
from collections.abc import Iterator
from statistics import median
from typing import Any

from msgspec.structs import replace

from nsysan.calibrate.bench import Bench, Figures, Measurement
from nsysan.calibrate.libraries import native
from nsysan.calibrate.products import Matrices, tried
from nsysan.calibrate.sampling import batch, lasting
from nsysan.calibrate.shapes import ANCHORS, Shape, usual_shapes
from nsysan.calibrate.spread import doubts, spread_of
from nsysan.hardware.peak_rates import peak_flop_per_s
from nsysan.model.ceilings import Algorithm, Dtype, GemmCeiling, Regime
from nsysan.model.units import NS_PER_S

_FRAMEWORK_WORKSPACE_BYTES = 32 << 20
"""What PyTorch gives cuBLASLt."""
_LARGE_WORKSPACE_BYTES = 256 << 20
_MANY_ALGORITHMS = 16
_MEASURED_ALGORITHMS = 3
_SCREENED_SAMPLES = 5
_SCREENING_S = 1.0
"""About what a shape takes besides: its matrices, their check, the screening, and the few of which more is measured."""
_BETTER_FRAC = 0.02
"""Another algorithm than the first proposal is worth telling from here on."""
_BURST_SAMPLES = 20
_BURST_FASTEST = 5
_ORDER_SEED = 7


def measure(bench: Bench) -> Figures:
    """The products of every data type that the GPU has, in an order that no drift follows."""
    work = _work(bench)
    random.Random(_ORDER_SEED).shuffle(work)  # noqa: S311 - an order, no secret
    lacking: set[Dtype] = set()
    found: list[GemmCeiling] = []
    for place, (dtype, shape) in enumerate(work):
        bench.progress.begin(f"product {place + 1} of {len(work)}: {dtype.value} {shape.m} x {shape.n} x {shape.k}")
        if dtype not in lacking:
            found += _measured(bench, dtype, shape, lacking)
    for dtype in sorted(lacking):
        bench.waive(f"gemm {dtype.value}", "cuBLASLt proposes no algorithm for it on this GPU")
    return Figures(gemm=tuple(sorted(found, key=lambda one: (one.dtype, one.m, one.n, one.k, one.transposes))))


def _work(bench: Bench) -> list[tuple[Dtype, Shape]]:
    """Each product once: the usual shapes in every data type, and those that were asked for."""
    usual = usual_shapes(is_quick=bench.effort.is_quick)
    everywhere = ((dtype, shape) for dtype in Dtype for shape in tried(dtype, usual))
    asked = ((dtype, shape) for dtype, one in bench.more_products for shape in tried(dtype, (one,)))
    return list(dict.fromkeys((*everywhere, *asked)))


def _estimate_s(bench: Bench) -> float:
    """Of the data types that GPUs of this capability have; as long again as is measured is waited before."""
    known = peak_flop_per_s(bench.device.facts.capability, 1, 1.0, is_geforce=False)
    count = sum(not known or dtype in known for dtype, _ in _work(bench))
    return count * (2 * bench.effort.sustained_s + _SCREENING_S)


MEASUREMENT = Measurement("gemm", "matrix products", _estimate_s, measure)


def _measured(bench: Bench, dtype: Dtype, shape: Shape, lacking: set[Dtype]) -> list[GemmCeiling]:
    name = f"gemm {dtype.value} {shape.m} x {shape.n} x {shape.k} {shape.transposes.value}"
    try:
        matrices = Matrices.on(bench, dtype, shape)
        if matrices is None:
            bench.waive(name, "the GPU has no room for its matrices")
            return []
        first = matrices.gemm(bench, _FRAMEWORK_WORKSPACE_BYTES, 1)
        if not first.algorithm_count:
            lacking.add(dtype)
            return []
        return list(_figures(bench, dtype, matrices, name))
    except native().CallFailedError as error:
        bench.waive(name, str(error))
        return []


def _figures(bench: Bench, dtype: Dtype, matrices: Matrices, name: str) -> Iterator[GemmCeiling]:
    gemm = matrices.gemm(bench, _FRAMEWORK_WORKSPACE_BYTES, 1)
    if wrong := matrices.wrong_count(gemm, 0):
        bench.waive(name, f"{wrong} of its checked elements are wrong")
        return
    first = _sustained(bench, dtype, matrices, gemm, 0)
    yield first
    best = _best(bench, dtype, matrices, name)
    if best is not None and best.flop_per_s > first.flop_per_s * (1 + _BETTER_FRAC):
        yield best
    if matrices.shape in ANCHORS:
        yield _burst(dtype, matrices, gemm)


def _best(bench: Bench, dtype: Dtype, matrices: Matrices, name: str) -> GemmCeiling | None:
    """The fastest of the algorithms that compute rightly and, screened, are faster than the first; None: none is."""
    if bench.effort.is_quick:
        return None
    gemm = matrices.gemm(bench, _LARGE_WORKSPACE_BYTES, _MANY_ALGORITHMS)
    screening = batch(_SCREENED_SAMPLES, 1, is_held=True)
    times_ns = {number: median(gemm.time(number, matrices.sets, screening)) for number in range(gemm.algorithm_count)}
    faster = [number for number in times_ns if times_ns[number] * (1 + _BETTER_FRAC) < times_ns[0]]
    fastest = sorted(faster, key=lambda number: times_ns[number])[:_MEASURED_ALGORITHMS]
    right = [number for number in fastest if not matrices.wrong_count(gemm, number)]
    for number in sorted(set(fastest) - set(right)):
        bench.waive(f"{name}, algorithm {number}", "it computes wrongly")
    figures = [_sustained(bench, dtype, matrices, gemm, number) for number in right]
    fast = max(figures, key=lambda one: one.flop_per_s, default=None)
    return None if fast is None else replace(fast, algorithm=Algorithm.BEST)


def _sustained(bench: Bench, dtype: Dtype, matrices: Matrices, gemm: Any, algorithm: int) -> GemmCeiling:
    with bench.watched() as watch:
        samples = lasting(lambda one: gemm.time(algorithm, matrices.sets, one), bench.effort, is_held=True)
    made = _ceiling(dtype, matrices.shape, samples, Regime.SUSTAINED)
    return replace(made, conditions=watch.conditions, warnings=tuple(doubts(samples)))


def _burst(dtype: Dtype, matrices: Matrices, gemm: Any) -> GemmCeiling:
    """The median of the fastest of few products."""
    samples = gemm.time(0, matrices.sets, batch(_BURST_SAMPLES, 1, is_held=True))
    return _ceiling(dtype, matrices.shape, sorted(samples)[:_BURST_FASTEST], Regime.BURST)


def _ceiling(dtype: Dtype, shape: Shape, samples_ns: list[float], regime: Regime) -> GemmCeiling:
    spread = spread_of(samples_ns)
    return GemmCeiling(
        dtype=dtype,
        transposes=shape.transposes,
        m=shape.m,
        n=shape.n,
        k=shape.k,
        regime=regime,
        algorithm=Algorithm.HEURISTIC,
        flop_per_s=2 * shape.m * shape.n * shape.k / spread.median * NS_PER_S,
        time_ns=spread,
    )
