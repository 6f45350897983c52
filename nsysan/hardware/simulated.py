"""A ceilings file from a data sheet, for trying out what reads one; every report says that nothing was measured."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from nsysan import __version__
from nsysan.hardware.bandwidth import bus_factor
from nsysan.hardware.data_sheet_table import DataSheet, data_sheets
from nsysan.hardware.data_sheets import sheet_named, words_of
from nsysan.hardware.gemm_ceilings import Product, gemm_ceiling
from nsysan.hardware.link_ceilings import link_ceiling
from nsysan.model.ceilings import (
    SCHEMA_VERSION,
    Algorithm,
    Ceilings,
    CollectiveCurve,
    CurvePoint,
    Direction,
    Dtype,
    GemmCeiling,
    HostMemory,
    LinkCeiling,
    MeasuredGpu,
    MemoryCeiling,
    Mode,
    Origin,
    Pattern,
    Regime,
    Timing,
    Transposes,
)
from nsysan.model.errors import UsageError
from nsysan.model.kernels import Collective
from nsysan.model.text import display_text
from nsysan.model.units import NS_PER_S

_SIDES = (1024, 4096, 16384)
_RANKS = (2, 4, 8)
_LATENCY_NS = 20_000.0
_LINK_SHARE = 0.8
_CURVE_BYTES = tuple(1 << power for power in range(10, 33, 2))
_COPY_BYTES = (1 << 20, 1 << 26, 1 << 30)
_KINDS = (
    Collective.ALL_REDUCE,
    Collective.ALL_GATHER,
    Collective.REDUCE_SCATTER,
    Collective.BROADCAST,
    Collective.REDUCE,
    Collective.ALL_TO_ALL,
    Collective.SEND_RECV,
)


def simulate(name: str, created_utc: str) -> Ceilings:
    """What the data sheet of the GPU of this name promises, as if it had been measured.

    Raises UsageError where no sheet has the name.
    """
    sheet = sheet_named(name) or _of_model(name)
    if sheet is None:
        models = ", ".join(one.model for one in data_sheets())
        raise UsageError(f"There is no data sheet of {display_text(name)!r}.", f"Data sheets: {models}.")
    return Ceilings(
        schema_version=SCHEMA_VERSION,
        nsysan_version=__version__,
        origin=Origin.SIMULATED,
        source=f"simulated from: {sheet.source}",
        created_utc=created_utc,
        gpus=(MeasuredGpu(f"NVIDIA {sheet.model}", "{}.{}".format(*sheet.capability), sheet.sm_count),),
        gemm=tuple(_gemms(sheet)),
        memory=tuple(_memory(sheet)),
        links=tuple(_links(sheet)),
        collectives=tuple(_curves(sheet)),
        warnings=("Nothing here was measured.",),
    )


def _of_model(name: str) -> DataSheet | None:
    words = words_of(name)
    return next((sheet for sheet in data_sheets() if words_of(sheet.model) == words), None)


def _gemms(sheet: DataSheet) -> Iterator[GemmCeiling]:
    for dtype, m, n, k in product(Dtype, _SIDES, _SIDES, _SIDES):
        found = gemm_ceiling(None, sheet, Product(dtype, m, n, k))
        if found is not None:
            yield GemmCeiling(
                dtype=dtype,
                transposes=Transposes.TN,
                m=m,
                n=n,
                k=k,
                regime=Regime.SUSTAINED,
                algorithm=Algorithm.BEST,
                flop_per_s=found.rate,
            )


def _memory(sheet: DataSheet) -> Iterator[MemoryCeiling]:
    if sheet.memory_bytes_per_s is not None:
        for pattern in Pattern:
            yield MemoryCeiling(pattern=pattern, size_bytes=1 << 30, bytes_per_s=sheet.memory_bytes_per_s)


def _links(sheet: DataSheet) -> Iterator[LinkCeiling]:
    for direction, size_bytes in product((Direction.HOST_TO_DEVICE, Direction.DEVICE_TO_HOST), _COPY_BYTES):
        found = link_ceiling(None, sheet, direction, HostMemory.PINNED, size_bytes)
        if found is not None:
            yield LinkCeiling(
                direction=direction,
                host_memory=HostMemory.PINNED,
                gpu=0,
                peer=None,
                size_bytes=size_bytes,
                bytes_per_s=found.rate,
            )


def _curves(sheet: DataSheet) -> Iterator[CollectiveCurve]:
    if sheet.nvlink_bytes_per_s is None:
        return
    for kind, rank_count in product(_KINDS, _RANKS):
        yield CollectiveCurve(
            kind=kind,
            dtype="bf16",
            in_place=False,
            rank_count=rank_count,
            node_count=1,
            mode=Mode.PROCESS_PER_GPU,
            timing=Timing.ISOLATED,
            registered=False,
            nccl_version=None,
            points=tuple(_point(sheet.nvlink_bytes_per_s, kind, rank_count, size) for size in _CURVE_BYTES),
        )


def _point(line_bytes_per_s: float, kind: Collective, rank_count: int, size_bytes: int) -> CurvePoint:
    factor = bus_factor(kind, rank_count) or 1.0
    time_ns = _LATENCY_NS + size_bytes * factor / (_LINK_SHARE * line_bytes_per_s) * NS_PER_S
    algbw = size_bytes / time_ns * NS_PER_S
    return CurvePoint(size_bytes=size_bytes, each_ns=time_ns, algbw_bytes_per_s=algbw, busbw_bytes_per_s=algbw * factor)
