"""The six figures of a run as lists and pages show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from nsysan.model.units import format_bytes, format_duration, format_fraction
from nsysan.report.prose import capitalized, ended
from nsysan.report.terms import TERMS
from nsysan.service.work.order import FIGURES


class ShownFigure(msgspec.Struct, frozen=True):
    """One figure; ``value`` is None where it is unknown, and ``why`` then says why."""

    name: str
    value: str | None
    unit: str
    why: str
    number: float | None


def _tokens(tokens_per_s: float) -> str:
    return f"{tokens_per_s:,.0f} tokens/s"


_KINDS: dict[str, tuple[str, Callable[[float], str]]] = {
    "tokens_per_s": ("tokens_per_s", _tokens),
    "compute_busy_frac": ("compute_busy", format_fraction),
    "mfu": ("mfu", format_fraction),
    "communication_wait_frac": ("communication_wait", format_fraction),
    "data_wait_ns_per_step": ("data_wait", format_duration),
    "peak_memory_bytes": ("peak_memory", format_bytes),
}
"""The term that names each, and how it is written."""
FIGURE_NAMES = tuple(TERMS[_KINDS[key][0]].name for key in FIGURES)


def figures_of(summary: Mapping[str, Any]) -> tuple[ShownFigure, ...]:
    """The six figures in the order they are always shown; none of them is known of a run that is not done."""
    return tuple(_figure(key, summary) for key in FIGURES)


def _figure(key: str, summary: Mapping[str, Any]) -> ShownFigure:
    term, written = _KINDS[key]
    value = summary.get("figures", {}).get(key)
    if value is None:
        why = summary.get("unknown", {}).get(key, "the run is not analysed")
        return ShownFigure(TERMS[term].name, None, "", ended(capitalized(why)), None)
    number, _, unit = written(value).partition(" ")
    return ShownFigure(TERMS[term].name, number, unit, "", value)
