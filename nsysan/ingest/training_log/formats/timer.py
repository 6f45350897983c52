"""Timers in JSON lines, as ``docs/step_timer.py`` writes them: ``{"nsysan_timer": 1, "step": 3, "time_s": …}``."""

from __future__ import annotations

import json
import math

from nsysan.ingest.training_log.line_format import LineFormat
from nsysan.model.training_log import LogFormat, LoggedStep
from nsysan.model.units import NS_PER_S, NS_PER_US

_MARK = '"nsysan_timer"'
_LONGEST = 1 << 12
_LARGEST_STEP = 10**12


def _read(line: str) -> LoggedStep | None:
    begin = line.find("{")
    if begin < 0 or _MARK not in line or len(line) > _LONGEST:
        return None
    try:
        said = json.loads(line[begin : line.rfind("}") + 1])
    except (ValueError, RecursionError):
        return None
    step = _figure(said, "step")
    if step is None or not step.is_integer() or step > _LARGEST_STEP:
        return None
    wall_s, step_s = _figure(said, "time_s"), _figure(said, "step_s")
    return LoggedStep(
        int(step),
        wall_ns=None if wall_s is None else round(wall_s * NS_PER_S),
        step_ns=step_s * NS_PER_S if step_s else None,
        tokens=_figure(said, "tokens"),
        samples=_figure(said, "samples"),
    )


def _figure(said: dict[str, object], name: str) -> float | None:
    """A number that is none of JSON's odd ones and not negative."""
    value = said.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


FORMAT = LineFormat(LogFormat.TIMER, (b'"nsysan_timer"',), lambda: _read, resolution_ns=NS_PER_US)
