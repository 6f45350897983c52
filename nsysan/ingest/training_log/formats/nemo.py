"""NeMo 2, on Lightning: ``Training epoch 0, iteration 9/99 | … | global_step: 9 | train_step_timing in s: 1.23``."""

from __future__ import annotations

import re

from nsysan.ingest.training_log.line_format import LineFormat
from nsysan.ingest.written_figures import NUMBER, in_ns, number
from nsysan.model.training_log import LogFormat, LoggedStep

_STEP = re.compile(r"\bglobal_step: {0,4}(?P<step>[0-9]{1,12})\b")
_ITERATION = re.compile(r"\biteration (?P<step>[0-9]{1,12})/")
_TIME = re.compile(rf"\btrain_step_timing in (?P<unit>m?s): {{0,4}}(?P<value>{NUMBER})")
_SAMPLES = re.compile(rf"\bglobal_batch_size: {{0,4}}(?P<value>{NUMBER})")


def _read(line: str) -> LoggedStep | None:
    time = _TIME.search(line)
    step = _STEP.search(line) or _ITERATION.search(line)
    if time is None or step is None:
        return None
    samples = _SAMPLES.search(line)
    return LoggedStep(
        step=int(step["step"]),
        step_ns=in_ns(time["value"], time["unit"]),
        samples=None if samples is None else number(samples["value"]),
    )


FORMAT = LineFormat(LogFormat.NEMO, (b"train_step_timing in ",), lambda: _read)
