"""What a collective of some size can reach: from the curve of its kind, number of ranks and nodes, never its maximum.

Small messages are not judged by curves whose calls were queued one behind the other, as nccl-tests does: there the
start of one hides behind the end of another, and no trace can be as fast.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

import msgspec

from nsysan.hardware.answers import Ceiling, Level, named
from nsysan.hardware.bandwidth import bus_factor
from nsysan.hardware.data_sheet_table import DataSheet
from nsysan.hardware.size_curve import SizeCurve
from nsysan.model.ceilings import Ceilings, CollectiveCurve, Mode, Timing
from nsysan.model.kernels import Collective
from nsysan.model.units import NS_PER_S, counted

_SMALL_BYTES = 1024
"""Messages up to this size take as long as an empty one."""
_LATENCY_TIMES = 3.0
"""What takes less than so many times as long as an empty message is bound by latency."""
_DRIVEN = {Mode.ONE_PROCESS: "all of one process", Mode.PROCESS_PER_GPU: "each of its own process"}
_PLATEAU_FRAC = 0.95
_NVLINK_SHARE = 0.80
"""Of the line rate that NCCL's rings reach: 370 of 450 GB/s on H100, 160 of 200 on H800."""


class RanksApart(msgspec.Struct, frozen=True):
    """How the ranks of a collective lie. None is what is not known: one node is taken then, and any mode."""

    rank_count: int
    node_count: int | None
    mode: Mode | None = None

    def __str__(self) -> str:
        places = f"{counted(self.rank_count, 'rank')} on {counted(self.node_count or 1, 'node')}"
        return places if self.mode is None else f"{places}, {_DRIVEN[self.mode]}"


class Exchange(msgspec.Struct, frozen=True):
    """A collective of ``size_bytes``: S of nccl-tests, the whole array."""

    kind: Collective
    size_bytes: int
    ranks: RanksApart


def collective_ceiling(ceilings: Ceilings | None, sheet: DataSheet | None, exchange: Exchange) -> Ceiling | None:
    """Bus bandwidth in bytes per second; None where nothing of the kind is known or latency binds."""
    curves = [] if ceilings is None else _curves(ceilings.collectives, exchange)
    if ceilings is None or not curves:
        return _of_nvlink(sheet, exchange)
    same = curves[0].rank_count == exchange.ranks.rank_count
    known = [found for curve in curves if (found := _on_curve(curve, exchange)) is not None]
    if not known:
        return None
    rate, level = max(known)
    source = named(ceilings, f"{exchange.kind.value} of {curves[0].rank_count} ranks")
    return Ceiling(rate, level if same else Level.SCALED, source)


def without_curve(ceilings: Ceilings, groups: Iterable[RanksApart]) -> str | None:
    """What the curves of the file tell nothing of, and of what they do; None where that is nothing."""
    curves = ceilings.collectives
    lacking = [ranks for ranks in groups if not any(_are_like(curve, ranks) for curve in curves)]
    if not curves or not lacking:
        return None
    measured = dict.fromkeys(RanksApart(curve.rank_count, curve.node_count, curve.mode) for curve in curves)
    return (
        f"The curves of collectives are not used for {'; '.join(sorted(map(str, lacking)))}: "
        f"measured were {'; '.join(map(str, measured))}."
    )


def _curves(curves: Iterable[CollectiveCurve], exchange: Exchange) -> list[CollectiveCurve]:
    """Those of the kind that may be used; where several were measured, those closest to how training runs."""
    usable = [curve for curve in curves if curve.kind is exchange.kind and _are_like(curve, exchange.ranks)]
    nearest = _nearest_in_ranks(usable, exchange.ranks.rank_count)
    return [curve for curve in nearest if curve.timing is Timing.ISOLATED] or nearest


def _are_like(curve: CollectiveCurve, ranks: RanksApart) -> bool:
    """Whether a curve tells of such ranks: of as many nodes and driven alike, and of several nodes of as many ranks."""
    nodes = ranks.node_count or 1
    if curve.node_count != nodes or ranks.mode not in {None, curve.mode} or curve.registered:
        return False
    return nodes == 1 or curve.rank_count == ranks.rank_count


def _nearest_in_ranks(curves: list[CollectiveCurve], rank_count: int) -> list[CollectiveCurve]:
    """The curves of the number of ranks that is nearest; of two as near the larger."""
    counts = {curve.rank_count for curve in curves if curve.rank_count > 1}
    nearest = min(counts, key=lambda count: (abs(count - rank_count), -count), default=None)
    return [curve for curve in curves if curve.rank_count == nearest]


def _on_curve(curve: CollectiveCurve, exchange: Exchange) -> tuple[float, Level] | None:
    points = SizeCurve.of((point.size_bytes, point.each_ns) for point in curve.points)
    if not points.sizes_bytes:
        return None
    if exchange.size_bytes > points.sizes_bytes[-1]:
        return _plateau(curve), Level.PLATEAU
    time_ns = points.time_ns(exchange.size_bytes)
    if time_ns is None or _is_bound_by_latency(points, time_ns, curve.timing):
        return None
    level = Level.EXACT if points.has(exchange.size_bytes) else Level.INTERPOLATED
    factor = bus_factor(curve.kind, curve.rank_count) or 0.0
    return exchange.size_bytes / time_ns * NS_PER_S * factor, level


def _plateau(curve: CollectiveCurve) -> float:
    """The median rate of the sizes that are within 5 % of the fastest."""
    rates = [point.busbw_bytes_per_s for point in curve.points if point.busbw_bytes_per_s is not None]
    return median(rate for rate in rates if rate >= _PLATEAU_FRAC * max(rates))


def _is_bound_by_latency(points: SizeCurve, time_ns: float, timing: Timing) -> bool:
    small = [time for size, time in zip(points.sizes_bytes, points.times_ns, strict=True) if size <= _SMALL_BYTES]
    return timing is Timing.PIPELINED and bool(small) and time_ns < _LATENCY_TIMES * median(small)


def _of_nvlink(sheet: DataSheet | None, exchange: Exchange) -> Ceiling | None:
    if sheet is None or sheet.nvlink_bytes_per_s is None or exchange.ranks.node_count != 1:
        return None
    rate = _NVLINK_SHARE * sheet.nvlink_bytes_per_s
    return Ceiling(rate, Level.DATA_SHEET, f"{sheet.source}: {_NVLINK_SHARE:.0%} of NVLink's line rate")
