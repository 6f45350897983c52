"""Whether a saved run can be true: what every run that nsysan writes keeps to, and one that was changed may not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain

import msgspec

from nsysan.analysis.timeline import Timeline
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.trace import IMPOSSIBLE_NS
from nsysan.report.reference_soundness import Known, reference_flaws
from nsysan.report.timeline_soundness import contradiction_of

_LATEST_NS = 3 * IMPOSSIBLE_NS
"""A record lies no further from its session's begin than ``IMPOSSIBLE_NS``, and a session from another."""
_MOST = 1 << 62
_SIGNED = frozenset({"clock_offset_ns", "clock_residual_ns", "shift_ns"})
_MOMENTS = ("start_ns", "end_ns", *(f"{name}_ns" for name in ("window_start", "window_end", *_SIGNED)))
_CHANGES = frozenset({"trend_frac", "clock_drift_frac"})
_DIFFERENCES = frozenset({"slowdown_ns", "net_gain_ns"})
"""Times that are less than 0 where something is faster, or costs more than it brings."""
_SPANS = (("start_ns", "end_ns"), ("window_start_ns", "window_end_ns"))
_AMOUNTS = ("_ns", "_count", "_bytes", "_per_s", "_flop")


class _Rule(msgspec.Struct, frozen=True):
    """What the values of certain keys are, in words that follow ``which is``."""

    holds: Callable[[float], bool]
    otherwise: str


_FRACTION = _Rule(lambda value: 0 <= value <= 1, "no share from 0 to 1")
_CHANGE = _Rule(lambda value: -1 <= value <= _MOST, "no change of a time that can be")
_MOMENT = _Rule(lambda value: abs(value) <= _LATEST_NS, "no moment of a capture")
_DIFFERENCE = _Rule(lambda value: abs(value) <= _MOST, "beyond all measure")
_AMOUNT = _Rule(lambda value: 0 <= value <= _MOST, "below 0 or beyond all measure")


def flaw_of(run: Run) -> str | None:
    """What in the run cannot be, as a sentence without its full stop; None where nothing is found."""
    timeline, known = run.results.get(Timeline), Known.of(run)
    found = next(chain(reference_flaws(run), _flaws(_document(run), "", known)), None)
    if found is not None or isinstance(timeline, Skipped):
        return found
    return contradiction_of(timeline.timeline, known.gpus)


def _document(run: Run) -> dict[str, object]:
    """Everything with figures in it, as it stands in ``run.json``."""
    parts = ({"reports": run.reports, "diagnosis": run.diagnosis, "findings": run.findings}, *run.results.found())
    return {key: value for part in parts for key, value in msgspec.to_builtins(part, str_keys=True).items()}


def _flaws(value: object, path: str, known: Known) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _flaws_of_object(value, path)
        yield from known.flaws(value, path)
        for key, entry in value.items():
            yield from _flaws(entry, f"{path}.{key}" if path else key, known)
    elif isinstance(value, (list, tuple)):
        for place, entry in enumerate(value):
            if isinstance(entry, (Mapping, list, tuple)):
                yield from _flaws(entry, f"{path}[{place}]", known)


def _flaws_of_object(fields: Mapping[str, object], path: str) -> Iterator[str]:
    for key, value in fields.items():
        where = f"{path}.{key}" if path else key
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            rule = _rule_of(key)
            if rule is not None and not rule.holds(value):
                yield f"{where} is {value}, which is {rule.otherwise}"
    for start, end in _SPANS:
        if start in fields and end in fields and not _is_before(fields[start], fields[end]):
            yield f"{path} ends before it begins"


def _rule_of(key: str) -> _Rule | None:
    """The rule that the unit in a key's name asks for."""
    if key in _CHANGES:
        return _CHANGE
    if key == "frac" or key.endswith("_frac"):
        return _FRACTION
    if key in _DIFFERENCES:
        return _DIFFERENCE
    if key in _MOMENTS or key in _SIGNED:
        return _MOMENT
    return _AMOUNT if key == "count" or key.endswith(_AMOUNTS) else None


def _is_before(start: object, end: object) -> bool:
    return not (isinstance(start, int) and isinstance(end, int)) or start <= end
