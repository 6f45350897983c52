"""Collectives through NCCL: curves over sizes, denser where NCCL changes protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from nsysan.calibrate.bench import Bench, Figures, Measurement
from nsysan.calibrate.exchanges import DTYPE, NUMBERS, Group
from nsysan.calibrate.libraries import native
from nsysan.calibrate.sampling import batch
from nsysan.calibrate.spread import doubts, spread_of
from nsysan.hardware.bandwidth import bus_factor
from nsysan.model.ceilings import CollectiveCurve, CurvePoint, Mode, Timing
from nsysan.model.errors import MissingToolError
from nsysan.model.kernels import Collective
from nsysan.model.units import NS_PER_S

_SMALLEST_BYTES = 8
_LARGEST_BYTES = 8 << 30
_QUICK_LARGEST_BYTES = 256 << 20
_MORE_POINTS = 12
_SWITCH_FRAC = 0.25
"""Where the slope of time over size differs by more from one stretch to the next, NCCL has changed something."""
_WARM_UP_CALLS = 5
_PIPELINED_CALLS = 20
_SAMPLES = 10
_LONGEST_NS = 0.5 * NS_PER_S


def measure(bench: Bench) -> Figures:
    """Every collective, its calls queued one behind the other and each for itself."""
    if bench.rank_count < 2:  # noqa: PLR2004 - a collective is of two
        bench.waive("collectives", "there is one GPU, and nobody to talk to")
        return Figures()
    try:
        largest = _largest_bytes(bench)
        group = Group.of(bench, largest)
        return Figures(collectives=tuple(_curves(bench, group, largest)))
    except (MissingToolError, native().CallFailedError, native().StalledError) as error:
        bench.ranks.close()  # whoever waits for this rank hears that it does not come
        bench.waive("collectives", str(error))
        return Figures()


def _estimate_s(bench: Bench) -> float:
    if bench.rank_count < 2:  # noqa: PLR2004 - as above
        return 0.0
    return 15.0 if bench.effort.is_quick else 90.0


MEASUREMENT = Measurement("nccl", "collectives", _estimate_s, measure)


def _largest_bytes(bench: Bench) -> int:
    """The largest size for which every GPU of every rank has room, rounded down to a power of two."""
    most = _QUICK_LARGEST_BYTES if bench.effort.is_quick else _LARGEST_BYTES
    rooms: list[int] = bench.ranks.share(min(device.free_bytes for device in bench.devices) // 3)
    return 1 << (min(most, *rooms).bit_length() - 1)


def _curves(bench: Bench, group: Group, largest: int) -> Iterator[CollectiveCurve]:
    for kind, timing in product(NUMBERS, Timing):
        bench.progress.begin(f"collectives: {kind.value.replace('_', ' ')}, {timing.value}")
        yield CollectiveCurve(
            kind=kind,
            dtype=DTYPE,
            in_place=False,
            rank_count=group.rank_count,
            node_count=bench.ranks.node_count,
            mode=Mode.ONE_PROCESS if bench.ranks.is_alone else Mode.PROCESS_PER_GPU,
            timing=timing,
            registered=False,
            nccl_version=bench.libraries["NCCL"].version,
            points=tuple(_points(group, kind, timing, _sizes(bench, group, kind, largest))),
        )


def _sizes(bench: Bench, group: Group, kind: Collective, largest: int) -> list[int]:
    """From 8 bytes on, each twice (in quick four times) the one before, as far as every rank has an element."""
    step = 4 if bench.effort.is_quick else 2
    sizes, size = [], _SMALLEST_BYTES
    while size <= largest:
        count = group.element_count(kind, size)
        sizes.append(group.size_bytes(kind, count))
        size *= step
    return [size for size in dict.fromkeys(sizes) if size]


def _points(group: Group, kind: Collective, timing: Timing, sizes: list[int]) -> list[CurvePoint]:
    """The curve, warmed up at every size before the first is taken."""
    for size in sizes:
        group.times_ns(kind, group.element_count(kind, size), batch(1, _WARM_UP_CALLS, is_held=False))
    points = {size: _point(group, kind, timing, size) for size in sizes}
    for _ in range(_MORE_POINTS):
        wanted = next_size([(size, points[size].each_ns) for size in sorted(points)])
        if wanted is None:
            break
        exact = group.size_bytes(kind, group.element_count(kind, wanted))
        if exact in points:
            break
        points[exact] = _point(group, kind, timing, exact)
    return [points[size] for size in sorted(points)]


def next_size(curve: Sequence[tuple[int, float]]) -> int | None:
    """Half way in the stretch after which the slope of time over size changes most; None where it changes little.

    Stretches of the smallest sizes, of which all take one time, have no slope to speak of.
    """
    slopes = [max(after[1] / before[1], 1e-9) for before, after in pairwise(curve)]
    changes = [(abs(after / before - 1), place) for place, (before, after) in enumerate(pairwise(slopes))]
    for change, place in sorted(changes, reverse=True):
        low, high = curve[place + 1][0], curve[place + 2][0]
        if change > _SWITCH_FRAC and high > low * 1.5:
            return (low + high) // 2
    return None


def _point(group: Group, kind: Collective, timing: Timing, size_bytes: int) -> CurvePoint:
    count = group.element_count(kind, size_bytes)
    calls = _PIPELINED_CALLS if timing is Timing.PIPELINED else 1
    probe_ns = group.times_ns(kind, count, batch(1, calls, is_held=False), timing)[0]
    samples: list[float] = []
    # every rank sees the same times, and so does as many calls
    for _ in range(_sample_count(probe_ns * calls)):
        samples += group.times_ns(kind, count, batch(1, calls, is_held=False), timing)
    spread = spread_of(samples)
    algbw = size_bytes / spread.median * NS_PER_S
    factor = bus_factor(kind, group.rank_count)
    wrong = group.wrong_count(kind, count)
    return CurvePoint(
        size_bytes=size_bytes,
        each_ns=spread.median,
        algbw_bytes_per_s=algbw,
        busbw_bytes_per_s=algbw * factor if factor else None,
        wrong_count=wrong,
        time_ns=spread,
        warnings=(*doubts(samples), *((f"{wrong} checked elements were wrong",) if wrong else ())),
    )


def _sample_count(sample_ns: float) -> int:
    return min(max(int(_LONGEST_NS / max(sample_ns, 1.0)), 3), _SAMPLES)
