"""mamf-finder of ml-engineering: matrix products of many shapes, in its versions that print a line for each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nsysan import __version__
from nsysan.ingest.benchmarks.gpu_told import gpu_told
from nsysan.ingest.benchmarks.importer import Importer
from nsysan.model.ceilings import (
    SCHEMA_VERSION,
    Algorithm,
    Ceilings,
    Dtype,
    GemmCeiling,
    MeasuredGpu,
    Origin,
    Regime,
    Transposes,
)

_TOOL = "mamf-finder"
_SHAPE = re.compile(
    r"\|\s*[\d.]+\(mean\)\s+(?P<median>[\d.]+)\(median\)\s+[\d.]+\(max\) @ (?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)"
)
_BEST = re.compile(r"^median:\s*(?P<median>[\d.]+) TFLOPS @ (?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)", re.MULTILINE)
_DTYPE = re.compile(r"(?:dtype[:=]?\s*|torch\.)(bfloat16|float16|float32|float8_e4m3fn|mxfp8|nvfp4)", re.IGNORECASE)
_NAME = re.compile(r"name='([^']+)'")
_DTYPES = {
    "bfloat16": Dtype.BF16,
    "float16": Dtype.FP16,
    "float32": Dtype.FP32,
    "float8_e4m3fn": Dtype.FP8,
    "mxfp8": Dtype.MXFP8,
    "nvfp4": Dtype.NVFP4,
}
_TERA = 1e12


def read(text: str, gpu: str | None) -> Ceilings | None:
    """The ceilings in what mamf-finder printed or wrote; None where this is something else."""
    lines = [line for line in re.split(r"[\r\n]", text) if "(median)" in line]
    matches = [*filter(None, map(_SHAPE.search, lines)), *_BEST.finditer(text)]
    if not matches:
        return None
    dtype, name = _DTYPE.search(text), _NAME.search(text)
    gemms = tuple(_gemms(matches, Dtype.BF16 if dtype is None else _DTYPES[dtype[1].lower()]))
    return Ceilings(
        schema_version=SCHEMA_VERSION,
        nsysan_version=__version__,
        origin=Origin.IMPORTED,
        source=_TOOL,
        created_utc=None,
        gpus=(MeasuredGpu(gpu_told(None if name is None else name[1], gpu, _TOOL), None, None),),
        gemm=gemms,
        warnings=() if dtype else ("mamf-finder's output names no data type: its default, bf16, is taken.",),
    )


IMPORTER = Importer(_TOOL, read)


def _gemms(matches: list[re.Match[str]], dtype: Dtype) -> Iterator[GemmCeiling]:
    """The median of each shape's iterations; the best that the end repeats is one of the shapes."""
    by_shape = {(int(one["m"]), int(one["n"]), int(one["k"])): float(one["median"]) for one in matches}
    for (m, n, k), tflop_per_s in by_shape.items():
        if min(m, n, k) > 0 and tflop_per_s > 0:
            yield GemmCeiling(
                dtype=dtype,
                transposes=Transposes.TN,
                m=m,
                n=n,
                k=k,
                regime=Regime.SUSTAINED,
                algorithm=Algorithm.HEURISTIC,
                flop_per_s=tflop_per_s * _TERA,
            )
