"""Megatron-LM and what is made of it: ``iteration 10/ 100 | … | elapsed time per iteration (ms): 5432.1 | …``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nsysan.ingest.training_log.line_format import LineFormat
from nsysan.ingest.written_figures import NUMBER, in_ns, number
from nsysan.model.training_log import LogFormat, LoggedStep

_ITERATION = re.compile(r"\biteration {1,12}(?P<step>[0-9]{1,12})/")
_FIELD = re.compile(rf"(?P<name>[^|:]{{1,80}}): *(?P<value>{NUMBER})")
_ELAPSED = re.compile(r"elapsed time per iteration \((?P<unit>[a-z]{1,7})\)")
_TOKENS_PER_S = ("tokens per second", "tokens/sec", "tokens-per-second", "tokens/s")
_TOKENS_PER_GPU_PER_S = (
    "tokens per gpu per second (tgs)",
    "tokens per gpu per second",
    "tokens per second per gpu",
    "tokens-per-second-per-gpu",
    "tokens/sec/gpu",
    "tokens/s/gpu",
)
_SAMPLES_PER_S = ("samples per second", "samples/sec")


def _read(line: str) -> LoggedStep | None:
    found = _ITERATION.search(line)
    if found is None:
        return None
    fields = {one["name"].strip(): one["value"] for part in line.split("|") if (one := _FIELD.search(part))}
    skipped = _first(fields, ("number of skipped iterations",)) or 0
    nans = _first(fields, ("number of nan iterations",)) or 0
    return LoggedStep(
        step=int(found["step"]),
        step_ns=_elapsed_ns(fields),
        samples=_first(fields, ("global batch size",)),
        samples_per_s=_first(fields, _SAMPLES_PER_S),
        tokens_per_s=_first({name.lower(): value for name, value in fields.items()}, _TOKENS_PER_S),
        tokens_per_gpu_per_s=_first({name.lower(): value for name, value in fields.items()}, _TOKENS_PER_GPU_PER_S),
        skipped_count=int(max(skipped, nans)),
    )


def _elapsed_ns(fields: Mapping[str, str]) -> float | None:
    for name, value in fields.items():
        if (found := _ELAPSED.search(name)) is not None:
            return in_ns(value, found["unit"])
    return None


def _first(fields: Mapping[str, str], names: tuple[str, ...]) -> float | None:
    return next((number(fields[name]) for name in names if name in fields), None)


FORMAT = LineFormat(LogFormat.MEGATRON, (b"elapsed time per iteration",), lambda: _read)
