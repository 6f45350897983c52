"""What launching costs: a kernel's call, its round trip, a graph's call and each of its nodes."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.calibrate.bench import Bench, Figures, Measurement
from nsysan.calibrate.spread import doubts, spread_of
from nsysan.model.ceilings import Launch, LaunchCeiling

_KERNEL = "empty"
_CALLS = 500
_NODES = 500
_GRAPH_LAUNCHES = 50
_LIMIT_MS = 60_000


def measure(bench: Bench) -> Figures:
    """Each kind of launch, after one of it that is not counted."""
    return Figures(launches=tuple(_ceiling(launch, samples) for launch, samples in _samples(bench)))


MEASUREMENT = Measurement("launches", "launches", lambda _: 2.0, measure)


def _samples(bench: Bench) -> Iterator[tuple[Launch, list[float]]]:
    bench.progress.begin("launches")
    kernels = bench.kernels
    kernels.time_calls(_KERNEL, _CALLS, _LIMIT_MS)
    yield Launch.KERNEL_CALL, kernels.time_calls(_KERNEL, _CALLS, _LIMIT_MS)
    yield Launch.KERNEL_ROUND_TRIP, kernels.time_round_trips(_KERNEL, _CALLS, _LIMIT_MS)
    kernels.time_graph(_KERNEL, _NODES, 1, _LIMIT_MS)
    calls, runs = kernels.time_graph(_KERNEL, _NODES, _GRAPH_LAUNCHES, _LIMIT_MS)
    yield Launch.GRAPH_CALL, calls
    yield Launch.GRAPH_NODE, [run / _NODES for run in runs]


def _ceiling(launch: Launch, samples: list[float]) -> LaunchCeiling:
    spread = spread_of(samples)
    return LaunchCeiling(launch=launch, each_ns=spread.median, time_ns=spread, warnings=tuple(doubts(samples)))
