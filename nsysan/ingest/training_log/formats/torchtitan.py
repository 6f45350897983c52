"""torchtitan: ``step: 10  loss:  7.1  memory: 40.1GiB(42.3%)  tps: 7,450  tflops: 431.2``; tps is one GPU's."""

from __future__ import annotations

import re

from nsysan.ingest.training_log.line_format import LineFormat
from nsysan.ingest.written_figures import NUMBER, number
from nsysan.model.training_log import LogFormat, LoggedStep

_STEP = re.compile(r"\bstep: {0,12}(?P<step>[0-9]{1,12}) {1,12}loss:")
_RATE = re.compile(rf"\b(?:tps|wps): {{0,12}}(?P<value>{NUMBER})")


def _read(line: str) -> LoggedStep | None:
    step, rate = _STEP.search(line), _RATE.search(line)
    if step is None or rate is None:
        return None
    return LoggedStep(int(step["step"]), tokens_per_gpu_per_s=number(rate["value"]))


FORMAT = LineFormat(LogFormat.TORCHTITAN, (b"tps: ", b"wps: "), lambda: _read)
