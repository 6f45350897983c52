"""DeepSpeed: its throughput timer, the breakdown of ``wall_clock_breakdown``, and the pipeline engine's lines."""

from __future__ import annotations

import re

from nsysan.ingest.training_log.line_format import LineFormat
from nsysan.ingest.written_figures import NUMBER, in_ns, number
from nsysan.model.training_log import LogFormat, LoggedStep

_PRINTED = re.compile(r"\] step=(?P<step>[0-9]{1,12}), skipped=(?P<skipped>[0-9]{1,12})\b")
_TIMED = re.compile(
    rf"(?:global_step=|\] [0-9]{{1,9}}/)(?P<step>[0-9]{{1,12}}), (?:RunningAvg)?SamplesPerSec=(?P<mean>{NUMBER})"
    rf"(?:, CurrSamplesPerSec=(?P<now>{NUMBER}))?"
)
_PIPELINE = re.compile(
    rf"\bsteps: (?P<step>[0-9]{{1,12}}) loss: .{{1,40}}? iter time \((?P<unit>m?s)\): (?P<time>{NUMBER}) "
    rf"samples/sec: (?P<rate>{NUMBER})"
)
_BREAKDOWN = re.compile(r"\btime \((?P<unit>m?s)\) \| ")
_PART = re.compile(rf"\| (?P<name>forward|fwd|backward|bwd|step): (?P<value>{NUMBER})")
_PARTS_OF_STEP = 3


class _Reader:
    """Skipped steps are told from the begin on, and a breakdown without the number of its step."""

    def __init__(self) -> None:
        self._skipped = 0
        self._step: int | None = None

    def __call__(self, line: str) -> LoggedStep | None:
        found = self._printed(line) or _timed(line) or _pipeline(line)
        if found is not None:
            self._step = found.step
            return found
        step_ns = _breakdown_ns(line)
        return None if step_ns is None or self._step is None else LoggedStep(self._step, step_ns=step_ns)

    def _printed(self, line: str) -> LoggedStep | None:
        found = _PRINTED.search(line)
        if found is None:
            return None
        before, self._skipped = self._skipped, int(found["skipped"])
        return LoggedStep(int(found["step"]), skipped_count=max(0, self._skipped - before))


def _timed(line: str) -> LoggedStep | None:
    found = _TIMED.search(line)
    if found is None:
        return None
    return LoggedStep(int(found["step"]), samples_per_s=number(found["now"] or found["mean"]))


def _pipeline(line: str) -> LoggedStep | None:
    found = _PIPELINE.search(line)
    if found is None:
        return None
    step_ns = in_ns(found["time"], found["unit"])
    return LoggedStep(int(found["step"]), step_ns=step_ns, samples_per_s=number(found["rate"]))


def _breakdown_ns(line: str) -> float | None:
    """Forward, backward and step of a whole step; those of its micro-batches have other names."""
    unit = _BREAKDOWN.search(line)
    if unit is None:
        return None
    parts = [in_ns(part["value"], unit["unit"]) for part in _PART.finditer(line)]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == _PARTS_OF_STEP else None


FORMAT = LineFormat(LogFormat.DEEPSPEED, (b"SamplesPerSec=", b", skipped=", b" iter time (", b"time (ms) | "), _Reader)
