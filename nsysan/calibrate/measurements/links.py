"""Copies between host and GPUs, and between GPUs, by the copy engines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from nsysan.calibrate.bench import Bench, Figures, Measurement
from nsysan.calibrate.libraries import native
from nsysan.calibrate.sampling import samples_of
from nsysan.calibrate.spread import doubts, spread_of
from nsysan.model.ceilings import Direction, HostMemory, LinkCeiling
from nsysan.model.units import NS_PER_S

if TYPE_CHECKING:
    from nsysan.calibrate._native import Buffer, HostBuffer

_SIZES_BYTES = (1 << 20, 1 << 24, 1 << 28)
_QUICK_SIZES_BYTES = (1 << 20, 1 << 26)


class _Link(msgspec.Struct, frozen=True, eq=False):
    """A way that copies go."""

    direction: Direction
    host_memory: HostMemory | None
    gpu: int
    peer: int | None
    target: Buffer | HostBuffer
    source: Buffer | HostBuffer


def measure(bench: Bench) -> Figures:
    """Host and each GPU both ways, pinned and pageable; each GPU to each other that it reaches."""
    sizes = _QUICK_SIZES_BYTES if bench.effort.is_quick else _SIZES_BYTES
    largest = min(sizes[-1], bench.room_bytes // 2)
    return Figures(
        links=tuple(
            _figure(bench, link, size)
            for link in _links(bench, largest)
            for size in dict.fromkeys(min(size, largest) for size in sizes)
        )
    )


def _estimate_s(bench: Bench) -> float:
    effort, device_count = bench.effort, len(bench.devices)
    sizes = len(_QUICK_SIZES_BYTES if effort.is_quick else _SIZES_BYTES)
    return (4 * device_count + device_count * (device_count - 1)) * sizes * (effort.warm_up_s + effort.least_s)


MEASUREMENT = Measurement("links", "copies over links", _estimate_s, measure)


def _links(bench: Bench, size_bytes: int) -> Iterator[_Link]:
    buffers = [native().Buffer(device, size_bytes) for device in bench.devices]
    for gpu, device in enumerate(bench.devices):
        for memory in HostMemory:
            host = native().HostBuffer(device, size_bytes, is_pinned=memory is HostMemory.PINNED)
            yield _Link(Direction.HOST_TO_DEVICE, memory, gpu, None, buffers[gpu], host)
            yield _Link(Direction.DEVICE_TO_HOST, memory, gpu, None, host, buffers[gpu])
    for gpu, device in enumerate(bench.devices):
        for peer, other in enumerate(bench.devices):
            if peer != gpu and _reaches(bench, gpu, peer, device.reach(other)):
                yield _Link(Direction.PEER_TO_PEER, None, gpu, peer, buffers[peer], buffers[gpu])


def _reaches(bench: Bench, gpu: int, peer: int, can: bool) -> bool:  # noqa: FBT001 - what the driver said
    if not can:
        bench.waive(f"link gpu{gpu}-gpu{peer}", "the driver lets neither reach the other's memory")
    return can


def _figure(bench: Bench, link: _Link, size_bytes: int) -> LinkCeiling:
    bench.progress.begin(f"copies: {link.direction.value.replace('_', ' ')}, GPU {link.gpu}")
    device = bench.devices[link.gpu]
    samples = samples_of(
        lambda one: device.time_copies(link.target, link.source, size_bytes, one),
        bench.effort,
        is_held=link.host_memory is not HostMemory.PAGEABLE,
    )
    spread = spread_of(samples)
    return LinkCeiling(
        direction=link.direction,
        host_memory=link.host_memory,
        gpu=link.gpu,
        peer=link.peer,
        size_bytes=size_bytes,
        bytes_per_s=size_bytes / spread.median * NS_PER_S,
        time_ns=spread,
        warnings=tuple(doubts(samples)),
    )
