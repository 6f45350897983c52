"""Matrix products against what the GPU can do: FLOP/s by shape where the trace tells shapes, and the time lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.registry import Analysis
from nsysan.analysis.yardstick import Yardstick, yardstick_of
from nsysan.attribution.job import Job
from nsysan.attribution.products import FoundProducts, ProductKind, find_products
from nsysan.attribution.profiled_products import profiled_shapes
from nsysan.attribution.steps.steady import steady_steps
from nsysan.hardware.answers import Ceiling, Level
from nsysan.hardware.data_sheets import upper_bounds
from nsysan.hardware.gemm_ceilings import Product, gemm_ceiling, memory_ceiling, peak_ceiling
from nsysan.model.arrays import Int64Array
from nsysan.model.ceilings import Dtype, Origin
from nsysan.model.profiled import ProfiledTrace
from nsysan.model.profilers import Recapture
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import ABOVE_MEASURED_FACTOR, ABOVE_POSSIBLE_FACTOR
from nsysan.model.units import NS_PER_S, format_flop_rate, format_fraction

ROW_LIMIT = 200
RECORD_SHAPES = Recapture(
    nsys="Run the steps inside torch.autograd.profiler.emit_nvtx(record_shapes=True), and record with -t cuda,nvtx.",
    torch="Record with record_shapes=True.",
)


class GemmRow(msgspec.Struct, frozen=True):
    """Products of one shape and data type, ``batch`` of them an operator.

    ``flop_per_s`` = 2 m n k batch count / ``total_ns``, the time of the operators' kernels that multiply. It is null
    where it cannot be true, and ``refused`` then says why. ``lost_ns`` is what of the time is beyond the ceiling, null
    where there is none. ``ceiling_is_too_low``: the products were faster than the ceiling, if only a little.
    """

    dtype: Dtype | None
    m: int
    n: int
    k: int
    batch: int
    count: int
    total_ns: int
    flop_per_s: float | None
    ceiling_flop_per_s: float | None
    ceiling_level: Level | None
    ceiling_source: str | None
    ceiling_is_too_low: bool
    lost_ns: int | None
    refused: str | None


class GemmRoof(msgspec.Struct, frozen=True):
    """The roofline of a data type: what products can reach, and what memory gives them to multiply."""

    dtype: Dtype
    flop_per_s: float
    flop_source: str
    memory_bytes_per_s: float | None
    memory_source: str | None


class Gemms(msgspec.Struct, frozen=True):
    """Shapes with the most time. ``gemm_coverage_frac`` is the share of all products' time whose shape is known.

    ``gemm_lost_ns`` sums what is lost in the windows; ``gemm_lost_ns_per_step`` is that of the mean steady step, mean
    over devices, null where there are no steps or no ceilings. ``gemm_lost_measured_ns_per_step`` is what of it was
    lost against ceilings that were measured or imported, null where none was: they are simulated, or data sheets.
    ``gemm_shape_sources`` are the profiles given as evidence whose shapes these are, none where the reports tell them.
    """

    id: ClassVar[str] = "gemms"

    gemms: tuple[GemmRow, ...]
    gemms_omitted_count: int
    gemm_roofs: tuple[GemmRoof, ...]
    gemm_total_ns: int
    gemm_coverage_frac: float
    gemm_lost_ns: int | None
    gemm_lost_ns_per_step: int | None
    gemm_lost_measured_ns_per_step: int | None = None
    gemm_shape_sources: tuple[str, ...] = ()

    @property
    def measured_frac(self) -> float:
        """The share of all products' time, in the shapes with the most, that was held against what was measured."""
        if self.gemm_lost_measured_ns_per_step is None:
            return 0.0
        judged = (row for row in self.gemms if row.lost_ns is not None and row.ceiling_level is not Level.DATA_SHEET)
        return sum(row.total_ns for row in judged) / self.gemm_total_ns


class _Sums(msgspec.Struct):
    """The products of one kind on GPUs of one model."""

    yardstick: Yardstick
    count: int = 0
    total_ns: int = 0
    in_steps_ns: list[float] = msgspec.field(default_factory=list)
    """By device that has steady steps: the mean step's time in these products, and how many it has."""
    in_steps_count: list[float] = msgspec.field(default_factory=list)


_SumsByKind = dict[tuple[ProductKind, str | None], _Sums]


def compute_gemms(job: Job, _results: ResultSet) -> Gemms | Skipped:
    """The products of the job's windows; skipped where none ran or no shape is known."""
    if not job.gpus:
        return no_gpu_work(Gemms.id, job)
    profiles = [shapes for one in job.evidence.of(ProfiledTrace) if (shapes := profiled_shapes(one)) is not None]
    found = [(gpu, find_products(job, device, profiles), device) for gpu in job.gpus for device in gpu.devices]
    gemm_ns = sum(products.gemm_ns for _, products, _ in found)
    if not gemm_ns:
        return Skipped(Gemms.id, "no kernel whose name tells a matrix product ran in the windows", None)
    known_ns = sum(products.known_ns for _, products, _ in found)
    if not known_ns:
        profilers = {trace.profiler for trace in job.traces}
        reason = "FLOP/s needs shapes: no range tells those of the matrix products, and no kernel's name does"
        return Skipped(Gemms.id, reason, RECORD_SHAPES.by(profilers))
    yardsticks = {gpu.id: yardstick_of(job, gpu) for gpu in job.gpus}
    sums: _SumsByKind = {}
    stepped = 0
    for gpu, products, device in found:
        steps = steady_steps(job, device)
        stepped += steps is not None
        shares = None if steps is None else _in_steps(products, steps.start_ns, steps.end_ns)
        _add(sums, yardsticks[gpu.id], products, shares)
    rows = sorted((_row(kind, one) for (kind, _), one in sums.items()), key=lambda row: (-row.total_ns, row.m, row.n))
    return Gemms(
        gemms=tuple(rows[:ROW_LIMIT]),
        gemms_omitted_count=max(len(rows) - ROW_LIMIT, 0),
        gemm_roofs=tuple(_roofs(yardsticks[job.gpus[0].id], rows)),
        gemm_total_ns=gemm_ns,
        gemm_coverage_frac=known_ns / gemm_ns,
        gemm_lost_ns=_total(rows),
        gemm_lost_ns_per_step=_lost_per_step(sums, stepped),
        gemm_lost_measured_ns_per_step=_lost_per_step(_measured(sums), stepped),
        gemm_shape_sources=tuple(dict.fromkeys(products.source for _, products, _ in found if products.source)),
    )


ANALYSIS = Analysis(Gemms, compute_gemms)


def _add(
    sums: _SumsByKind,
    yardstick: Yardstick,
    found: FoundProducts,
    shares: tuple[Int64Array, Int64Array, int] | None,
) -> None:
    """Add the products of a device."""
    counts = np.bincount(found.products.kind, minlength=len(found.kinds))
    times_ns = np.bincount(found.products.kind, found.products.time_ns, minlength=len(found.kinds))
    for place, kind in enumerate(found.kinds):
        one = sums.setdefault((kind, yardstick.facts.name), _Sums(yardstick))
        one.count += int(counts[place])
        one.total_ns += int(times_ns[place])
        if shares is not None:
            one.in_steps_ns.append(float(shares[0][place]) / shares[2])
            one.in_steps_count.append(float(shares[1][place]) / shares[2])


def _in_steps(found: FoundProducts, begins_ns: Int64Array, ends_ns: Int64Array) -> tuple[Int64Array, Int64Array, int]:
    """By kind the time and number of products that begin in these steps, and how many steps there are."""
    place = np.searchsorted(begins_ns, found.products.start_ns, side="right") - 1
    inside = (place >= 0) & (found.products.start_ns < ends_ns[np.maximum(place, 0)])
    kinds, size = found.products.kind[inside], len(found.kinds)
    times_ns = np.bincount(kinds, found.products.time_ns[inside], minlength=size).astype(np.int64)
    return times_ns, np.bincount(kinds, minlength=size).astype(np.int64), len(begins_ns)


def _ceiling(kind: ProductKind, yardstick: Yardstick) -> Ceiling | None:
    if kind.dtype is None:
        return None
    sides = kind.sides
    return gemm_ceiling(
        yardstick.ceilings, yardstick.sheet, Product(kind.dtype, sides.m, sides.n, sides.k, sides.batch)
    )


def _row(kind: ProductKind, sums: _Sums) -> GemmRow:
    rate = kind.sides.flop * sums.count / sums.total_ns * NS_PER_S if sums.total_ns else None
    ceiling = _ceiling(kind, sums.yardstick)
    refused = "its kernels took no time" if rate is None else _refusal(kind, rate, ceiling, sums.yardstick)
    lost_ns = None
    if rate is not None and refused is None and ceiling is not None:
        lost_ns = max(round(sums.total_ns - kind.sides.flop * sums.count / ceiling.rate * NS_PER_S), 0)
    return GemmRow(
        dtype=kind.dtype,
        m=kind.sides.m,
        n=kind.sides.n,
        k=kind.sides.k,
        batch=kind.sides.batch,
        count=sums.count,
        total_ns=sums.total_ns,
        flop_per_s=None if refused else rate,
        ceiling_flop_per_s=None if ceiling is None else ceiling.rate,
        ceiling_level=None if ceiling is None else ceiling.level,
        ceiling_source=None if ceiling is None else ceiling.source,
        ceiling_is_too_low=not refused and ceiling is not None and rate is not None and rate > ceiling.rate,
        lost_ns=lost_ns,
        refused=refused,
    )


def _refusal(kind: ProductKind, rate: float, ceiling: Ceiling | None, yardstick: Yardstick) -> str | None:
    """Why the rate cannot be true: it is above what was measured for the shape, or for any, or above what can be."""
    if ceiling is None or kind.dtype is None:
        return None
    limit = ceiling.rate if ceiling.level is Level.EXACT else None
    if limit is None and ceiling.is_measured:
        peak = peak_ceiling(yardstick.ceilings, yardstick.sheet, kind.dtype)
        limit = None if peak is None else peak.rate
    if limit is not None and rate > ABOVE_MEASURED_FACTOR * limit:
        share = format_fraction(rate / limit)
        return (
            f"{format_flop_rate(rate)} would be {share} of the {format_flop_rate(limit)} that were measured: shapes "
            "and kernels do not belong together, or the ceilings are not this GPU's"
        )
    bounds = {} if yardstick.sheet is None else upper_bounds(yardstick.sheet, yardstick.facts.sm_clock_hz)
    if kind.dtype in bounds and rate > ABOVE_POSSIBLE_FACTOR * bounds[kind.dtype]:
        most = format_flop_rate(bounds[kind.dtype])
        return f"{format_flop_rate(rate)} is more than the {most} that the GPU can do: shapes and kernels do not belong"
    return None


def _roofs(yardstick: Yardstick, rows: list[GemmRow]) -> Iterator[GemmRoof]:
    times_ns: defaultdict[Dtype, int] = defaultdict(int)
    for row in rows:
        if row.dtype is not None:
            times_ns[row.dtype] += row.total_ns
    memory = memory_ceiling(yardstick.ceilings, yardstick.sheet)
    for dtype in sorted(times_ns, key=lambda dtype: -times_ns[dtype]):
        peak = peak_ceiling(yardstick.ceilings, yardstick.sheet, dtype)
        if peak is not None:
            yield GemmRoof(
                dtype,
                peak.rate,
                peak.source,
                None if memory is None else memory.rate,
                None if memory is None else memory.source,
            )


def _total(rows: list[GemmRow]) -> int | None:
    lost_ns = [row.lost_ns for row in rows if row.lost_ns is not None]
    return sum(lost_ns) if lost_ns else None


def _measured(sums: _SumsByKind) -> _SumsByKind:
    """The kinds whose ceiling comes from measurements, not from a data sheet, nor from a file that repeats one."""
    return {key: one for key, one in sums.items() if _is_measured(_ceiling(key[0], one.yardstick), one.yardstick)}


def _is_measured(ceiling: Ceiling | None, yardstick: Yardstick) -> bool:
    given = yardstick.ceilings
    return ceiling is not None and ceiling.is_measured and given is not None and given.origin is not Origin.SIMULATED


def _lost_per_step(sums: _SumsByKind, device_count: int) -> int | None:
    """What the mean step loses, of the kinds that are not refused; the mean over the devices that have steps."""
    lost_ns = []
    for (kind, _), one in sums.items():
        ceiling, row = _ceiling(kind, one.yardstick), _row(kind, one)
        if ceiling is not None and row.refused is None:
            needed_ns = kind.sides.flop * sum(one.in_steps_count) / ceiling.rate * NS_PER_S
            lost_ns.append(max(sum(one.in_steps_ns) - needed_ns, 0.0))
    return round(sum(lost_ns) / device_count) if device_count and lost_ns else None
