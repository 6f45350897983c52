"""Several ceilings files of one kind of machine as one, and what two of them say of the same thing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import reduce
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from nsysan import __version__
from nsysan.hardware.data_sheets import GpuFacts
from nsysan.hardware.matching import match_gpu
from nsysan.model.ceilings import Ceilings, CollectiveCurve, GemmCeiling, LinkCeiling, Origin
from nsysan.model.errors import UsageError

AnyFigure = TypeVar("AnyFigure")
Stated = TypeVar("Stated")

_FROM_LEAST_CERTAIN = (Origin.SIMULATED, Origin.IMPORTED, Origin.MEASURED)


class Figure(msgspec.Struct, frozen=True):
    """One figure of a file: ``key`` is the same in every file, ``unit`` is ``FLOP/s``, ``B/s`` or ``ns``."""

    key: str
    value: float
    unit: str


def merge(files: Sequence[Ceilings]) -> Ceilings:
    """All figures of the files; where two measured the same thing that of the later file stays.

    Raises UsageError where they are of different GPUs or, of collectives, of GPUs that are joined differently, or
    simulated and measured figures would mix.
    """
    return reduce(_merged, files)


def figures_of(ceilings: Ceilings) -> Iterator[Figure]:
    """Every figure of the file, in its order."""
    for gemm in ceilings.gemm:
        yield Figure(" ".join(map(str, ("gemm", *_words(_gemm_key(gemm))))), gemm.flop_per_s, "FLOP/s")
    for memory in ceilings.memory:
        yield Figure(f"memory {memory.pattern.value} {memory.size_bytes} B", memory.bytes_per_s, "B/s")
    for link in ceilings.links:
        yield Figure(" ".join(map(str, ("link", *_words(_link_key(link))))), link.bytes_per_s, "B/s")
    for launch in ceilings.launches:
        yield Figure(f"launch {launch.launch.value}", launch.each_ns, "ns")
    for curve in ceilings.collectives:
        name = " ".join(map(str, _words(_curve_key(curve))))
        for point in curve.points:
            yield Figure(f"{name} {point.size_bytes} B", point.each_ns, "ns")


def _merged(one: Ceilings, other: Ceilings) -> Ceilings:
    _check_alike(one, other)
    return replace(
        one,
        nsysan_version=__version__,
        origin=min(one.origin, other.origin, key=_FROM_LEAST_CERTAIN.index),
        source="; ".join(dict.fromkeys((one.source, other.source))),
        created_utc=min(filter(None, (one.created_utc, other.created_utc)), default=None),
        forced=one.forced or other.forced,
        gpus=_union(one.gpus, other.gpus, lambda gpu: (gpu.name, gpu.uuid_hash, gpu.bus_id)),
        gemm=_union(one.gemm, other.gemm, _gemm_key),
        memory=_union(one.memory, other.memory, lambda memory: (memory.pattern, memory.size_bytes)),
        links=_union(one.links, other.links, _link_key),
        launches=_union(one.launches, other.launches, lambda launch: launch.launch),
        collectives=_union(one.collectives, other.collectives, _curve_key),
        waived=_union(one.waived, other.waived, lambda waived: waived),
        warnings=tuple(dict.fromkeys((*one.warnings, *other.warnings, *_of_drivers(one, other)))),
        libraries=_union(one.libraries, other.libraries, lambda library: library),
        environment={**one.environment, **other.environment},
        topology=_common(one.topology, other.topology),
        driver_version=_common(one.driver_version, other.driver_version),
        cuda_version=_common(one.cuda_version, other.cuda_version),
    )


def _check_alike(one: Ceilings, other: Ceilings) -> None:
    if (one.origin is Origin.SIMULATED) is not (other.origin is Origin.SIMULATED):
        raise UsageError("Simulated and measured ceilings do not mix.", "Merge those that were measured.")
    for gpu in other.gpus:
        capability = None if gpu.capability is None else _capability(gpu.capability)
        refused = match_gpu(one, GpuFacts(gpu.name, gpu.sm_count, capability), None).refused
        if refused is not None:
            raise UsageError(f"These are ceilings of different GPUs: {refused}.", "Keep one file for each model.")

    joined = {file.topology.hash for file in (one, other) if file.topology and file.collectives}
    if len(joined) > 1:
        raise UsageError(
            "These are collectives of GPUs that are joined differently.", "Keep one file for each kind of machine."
        )


def _of_drivers(one: Ceilings, other: Ceilings) -> Iterator[str]:
    if None not in {one.driver_version, other.driver_version} and one.driver_version != other.driver_version:
        yield f"Measured under different drivers: {one.driver_version} and {other.driver_version}."


def _common(one: Stated | None, other: Stated | None) -> Stated | None:
    """What both say, or the one that says something; None where they differ."""
    if one is None or other is None:
        return other if one is None else one
    return one if one == other else None


def _capability(text: str) -> tuple[int, int] | None:
    major, _, minor = text.partition(".")
    return (int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else None


def _union(
    one: Iterable[AnyFigure], other: Iterable[AnyFigure], key: Callable[[AnyFigure], Hashable]
) -> tuple[AnyFigure, ...]:
    return tuple({key(entry): entry for entry in (*one, *other)}.values())


def _gemm_key(gemm: GemmCeiling) -> tuple[object, ...]:
    shape = f"{gemm.m} x {gemm.n} x {gemm.k}"
    return gemm.dtype, gemm.transposes, shape, gemm.regime, gemm.algorithm


def _link_key(link: LinkCeiling) -> tuple[object, ...]:
    ends = f"gpu{link.gpu}" if link.peer is None else f"gpu{link.gpu}-gpu{link.peer}"
    return link.direction, link.host_memory, ends, f"{link.size_bytes} B"


def _curve_key(curve: CollectiveCurve) -> tuple[object, ...]:
    places = f"{curve.rank_count} ranks", f"{curve.node_count} nodes"
    ways = curve.mode, curve.timing, "in place" if curve.in_place else None
    return curve.kind, curve.dtype, *places, *ways, "registered" if curve.registered else None


def _words(key: tuple[object, ...]) -> Iterator[object]:
    """The parts of a key as they are written."""
    return (getattr(part, "value", part) for part in key if part is not None)
