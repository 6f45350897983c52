"""Device memory, streamed through by kernels: the copy engine is slower than they are."""

from __future__ import annotations

from itertools import product
from statistics import median
from typing import TYPE_CHECKING

import msgspec

from nsysan.calibrate.bench import Bench, Figures, Measurement
from nsysan.calibrate.libraries import native
from nsysan.calibrate.sampling import Effort, batch, samples_of
from nsysan.calibrate.spread import doubts, spread_of
from nsysan.model.ceilings import MemoryCeiling, Pattern
from nsysan.model.units import NS_PER_S

if TYPE_CHECKING:
    from nsysan.calibrate._native import Batch, Buffer

_LEAST_BYTES = 1 << 30
_CACHE_TIMES = 8
_ELEMENT_BYTES = 16
_BLOCKS_OF_SM = (2, 4, 8, 16)
_THREADS = (256, 512, 1024)
_TRIED_SAMPLES = 5
_KERNELS = {Pattern.COPY: ("stream_copy", 2), Pattern.TRIAD: ("stream_triad", 3)}
"""The kernel, and how often each byte of a buffer is moved: read or written."""


class _Stream(msgspec.Struct, frozen=True, eq=False):
    """A pattern over buffers of one size."""

    bench: Bench
    pattern: Pattern
    buffers: list[Buffer]

    def take(self, geometry: tuple[int, int], one: Batch) -> list[float]:
        name, moved = _KERNELS[self.pattern]
        arguments: list[Buffer | int] = [*self.buffers[:moved], self.buffers[0].size_bytes // _ELEMENT_BYTES]
        return self.bench.kernels.time(name, *geometry, arguments, one)


def measure(bench: Bench) -> Figures:
    """Copy and triad in the geometry that is fastest for each."""
    wanted = max(_LEAST_BYTES, _CACHE_TIMES * bench.device.facts.l2_bytes)
    size_bytes = min(wanted, bench.room_bytes // 3) // _ELEMENT_BYTES * _ELEMENT_BYTES
    buffers = [native().Buffer(bench.device, size_bytes) for _ in range(3)]
    for buffer in buffers:
        buffer.fill(1)
    return Figures(memory=tuple(_figure(bench, pattern, buffers) for pattern in Pattern))


MEASUREMENT = Measurement("memory", "device memory", lambda bench: 2 * _seconds(bench.effort), measure)


def _figure(bench: Bench, pattern: Pattern, buffers: list[Buffer]) -> MemoryCeiling:
    bench.progress.begin(f"device memory: {pattern.value}")
    stream = _Stream(bench, pattern, buffers)
    geometry = _fastest_geometry(stream)
    with bench.watched() as watch:
        samples = samples_of(lambda one: stream.take(geometry, one), bench.effort, is_held=True)
    spread = spread_of(samples)
    return MemoryCeiling(
        pattern=pattern,
        size_bytes=buffers[0].size_bytes,
        bytes_per_s=_KERNELS[pattern][1] * buffers[0].size_bytes / spread.median * NS_PER_S,
        time_ns=spread,
        conditions=watch.conditions,
        warnings=tuple(doubts(samples)),
    )


def _fastest_geometry(stream: _Stream) -> tuple[int, int]:
    sm_count = stream.bench.device.facts.sm_count
    few = batch(_TRIED_SAMPLES, 1, is_held=True)
    geometries = [(sm_count * blocks, threads) for blocks, threads in product(_BLOCKS_OF_SM, _THREADS)]
    return min(geometries, key=lambda geometry: median(stream.take(geometry, few)))


def _seconds(effort: Effort) -> float:
    return effort.warm_up_s + effort.least_s + 1
