"""Progress bars of HF Trainer and Lightning: ``100/1000 [01:23<12:30,  1.20it/s, …]``, and Lightning's of rich.

Bars of other things (downloads, evaluation) have a description of their own. What a bar counts are batches: with
gradient accumulation HF's are steps, Lightning's are not. Its rate is tqdm's, smoothed; the time is the bar's own.
"""

from __future__ import annotations

import re

from nsysan.ingest.training_log.line_format import LineFormat
from nsysan.ingest.written_figures import NUMBER, number, watch_ns
from nsysan.model.training_log import LogFormat, LoggedStep
from nsysan.model.units import NS_PER_S

_TIME = r"(?:[0-9]{1,4} days?, )?(?:[0-9]{1,5}:)?[0-9]{1,4}:[0-9]{2}"
_TQDM = re.compile(
    rf"(?P<before>(?:[^|\n]{{0,80}}\|[^|\n]{{0,400}}\|)?) {{0,8}}(?P<step>[0-9]{{1,12}})/(?P<total>[0-9]{{1,12}}) "
    rf"\[(?P<watch>{_TIME})<[^,\]]{{1,24}}, {{0,8}}(?P<rate>{NUMBER})(?P<unit>it/s|s/it)"
)
_RICH = re.compile(
    rf"(?P<before>Epoch [0-9]{{1,9}}/[0-9]{{1,9}}) [^0-9\n]{{1,400}}(?P<step>[0-9]{{1,12}})/(?P<total>[0-9]{{1,12}}) "
    rf"(?P<watch>{_TIME}) • {_TIME} (?P<rate>{NUMBER})(?P<unit>it/s)"
)
_OF_TRAINING = re.compile(r"(?:Epoch [0-9/]{1,20}|Training|[Tt]rain(?:ing)?(?: steps?)?|Steps|)(?::|$)")


def _read(line: str) -> LoggedStep | None:
    found = _TQDM.search(line) or _RICH.search(line)
    if found is None or not _is_of_training(found["before"]):
        return None
    rate = number(found["rate"])
    seconds = None if not rate else (1 / rate if found["unit"] == "it/s" else rate)
    return LoggedStep(
        int(found["step"]),
        bar_length=int(found["total"]),
        wall_ns=watch_ns(found["watch"]),
        step_ns=None if seconds is None else seconds * NS_PER_S,
    )


def _is_of_training(before: str) -> bool:
    description = before.split("|", maxsplit=1)[0].strip()
    name = re.sub(r" {0,8}[0-9]{1,3}%$", "", description)
    return _OF_TRAINING.match(name) is not None


FORMAT = LineFormat(LogFormat.PROGRESS_BAR, (b"it/s", b"s/it"), lambda: _read)
