"""Curves of collectives out of what nccl-tests measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan import __version__
from nsysan.model.ceilings import (
    SCHEMA_VERSION,
    Ceilings,
    CollectiveCurve,
    CurvePoint,
    MeasuredGpu,
    Mode,
    Origin,
    Timing,
    Waived,
)
from nsysan.model.errors import UsageError
from nsysan.model.nccl_tests import NcclTest, NcclTestRow
from nsysan.model.text import display_text
from nsysan.model.units import counted

_DTYPES = {"float": "fp32", "half": "fp16", "bfloat16": "bf16", "double": "fp64"}


def ceilings_of_tests(tests: Sequence[NcclTest], gpu: str | None) -> Ceilings:
    """The curves of these tests; ``gpu`` is the GPU of those that do not tell.

    A test that does not tell its collective, ranks or nodes is waived. Raises UsageError where nothing tells the GPU.
    """
    names = dict.fromkeys(name for test in tests for name in test.gpu_names) or ([gpu] if gpu else [])
    if not names:
        raise UsageError(
            "This output of nccl-tests does not tell which GPU it is of.",
            "Say it as nvidia-smi writes it: --gpu 'NVIDIA H100 80GB HBM3'",
        )
    return Ceilings(
        schema_version=SCHEMA_VERSION,
        nsysan_version=__version__,
        origin=Origin.IMPORTED,
        source="nccl-tests",
        created_utc=None,
        gpus=tuple(MeasuredGpu(name, None, None) for name in names),
        collectives=tuple(curve for test in tests for curve in _curves(test)),
        warnings=tuple(warning for test in tests for warning in _warnings(test)),
        waived=tuple(
            Waived(test.name, "it does not tell its collective, ranks, nodes or processes, or is of the CPU's time")
            for test in tests
            if not _is_usable(test)
        ),
    )


def _warnings(test: NcclTest) -> Iterator[str]:
    """What of a table is in no curve."""
    name = display_text(test.name)
    if test.unusable_count:
        yield f"{name}: {counted(test.unusable_count, 'row')} without usable figures left out."
    keys = [(row.dtype, row.in_place, row.size_bytes) for row in test.rows if row.size_bytes > 0]
    if repeated := len(keys) - len(set(keys)):
        yield f"{name}: {counted(repeated, 'row')} of a size measured again left out; the last one counts."


def _is_usable(test: NcclTest) -> bool:
    told = {test.kind, test.rank_count, test.node_count, test.process_count}
    return None not in told and not test.is_cpu_time


def _curves(test: NcclTest) -> Iterator[CollectiveCurve]:
    """A curve for each data type, in place and out of place."""
    if not _is_usable(test) or test.kind is None or test.rank_count is None or test.node_count is None:
        return
    for dtype, in_place in dict.fromkeys((row.dtype, row.in_place) for row in test.rows):
        rows = [row for row in test.rows if (row.dtype, row.in_place) == (dtype, in_place)]
        points = {row.size_bytes: _point(row) for row in rows if row.size_bytes > 0 and row.time_ns > 0}
        yield CollectiveCurve(
            kind=test.kind,
            dtype=_DTYPES.get(dtype, dtype),
            in_place=in_place,
            rank_count=test.rank_count,
            node_count=test.node_count,
            mode=Mode.PROCESS_PER_GPU if test.process_count == test.rank_count else Mode.ONE_PROCESS,
            timing=Timing.PIPELINED,
            registered=False,
            nccl_version=test.nccl_version,
            points=tuple(points[size] for size in sorted(points)),
        )


def _point(row: NcclTestRow) -> CurvePoint:
    return CurvePoint(
        size_bytes=row.size_bytes,
        each_ns=row.time_ns,
        algbw_bytes_per_s=row.size_bytes / row.time_ns * 1e9,
        busbw_bytes_per_s=row.busbw_bytes_per_s or None,
        wrong_count=row.wrong_count,
    )
