"""The six baseline figures: each with its source, or in words why it is unknown."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from nsysan.analysis.baseline import Baseline
from nsysan.analysis.steps import Steps
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_bytes, format_duration, format_fraction
from nsysan.report.elements import Term
from nsysan.report.prose import capitalized, ended, spelled
from nsysan.report.section import Layout, Section, Unanswered, View, unanswered
from nsysan.report.terms import TERMS


class Figure(msgspec.Struct, frozen=True):
    """One figure; ``unit`` is None and ``value`` a word where it is unknown, and ``remark`` then says why."""

    term: Term
    value: str
    unit: str | None
    remark: str
    source: str

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return self.unit is not None


class FiguresView(View, frozen=True):
    """The six figures, in the order they are always shown."""

    figures: tuple[Figure, ...]


class _Kind(msgspec.Struct, frozen=True):
    """How one key of ``baseline`` is shown."""

    key: str
    term: Term
    format: Callable[[float], str]
    remark: str
    source: str


def _format_tokens(tokens_per_s: float) -> str:
    return f"{tokens_per_s:,.0f} tokens/s"


_KINDS = (
    _Kind("tokens_per_s", TERMS["tokens_per_s"], _format_tokens, "over all GPUs", "trace and batch size"),
    _Kind("compute_busy_frac", TERMS["compute_busy"], format_fraction, "of the window, mean over GPUs", "trace"),
    _Kind("mfu", TERMS["mfu"], format_fraction, "of the dense peak", "trace, model and peak"),
    _Kind(
        "communication_wait_frac",
        TERMS["communication_wait"],
        format_fraction,
        "of the window, mean over ranks",
        "trace",
    ),
    _Kind("data_wait_ns_per_step", TERMS["data_wait"], format_duration, "a step, mean over ranks", "trace"),
    _Kind("peak_memory_bytes", TERMS["peak_memory"], format_bytes, "on the fullest GPU", "trace"),
)


def _build(run: Run) -> FiguresView | Unanswered:
    baseline = run.results.get(Baseline)
    if isinstance(baseline, Skipped):
        return unanswered(baseline, "what the six baseline figures are")
    figures = tuple(_told_by(_beside_step(_figure(kind, baseline), run), baseline) for kind in _KINDS)
    known_count = sum(figure.known for figure in figures)
    return FiguresView(figures, heading=f"{counted(known_count, 'baseline figure')} of {len(figures)} known")


def _figure(kind: _Kind, baseline: Baseline) -> Figure:
    value: float | None = getattr(baseline.baseline, kind.key)
    if value is None:
        why = baseline.baseline.unknown.get(kind.key, "the run does not say why")
        return Figure(kind.term, "not known", None, ended(capitalized(why)), "no source")
    number, _, unit = kind.format(value).partition(" ")
    return Figure(kind.term, number, unit, kind.remark, kind.source)


def _told_by(figure: Figure, baseline: Baseline) -> Figure:
    """The figure; tokens with the log that tells them, peak memory with who counted it."""
    tokens_source = baseline.baseline.tokens_per_s_source
    if figure.term is TERMS["tokens_per_s"] and tokens_source is not None:
        return replace(figure, source=tokens_source)
    kind = baseline.baseline.peak_memory_kind
    if figure.term is not TERMS["peak_memory"] or kind is None:
        return figure
    told = replace(figure, remark=f"{figure.remark}, {spelled(kind.value)}")
    profile = baseline.baseline.peak_memory_source
    return told if profile is None else replace(told, source=f"{profile}, of its own run")


def _beside_step(figure: Figure, run: Run) -> Figure:
    """The figure; one that is of a step with how long the mean step takes."""
    steps = run.results.get(Steps)
    step_ns = None if isinstance(steps, Skipped) else steps.steps.mean_ns
    if figure.term is not TERMS["data_wait"] or not figure.known or step_ns is None:
        return figure
    return replace(figure, remark=f"mean over ranks, of a mean step of {format_duration(step_ns)}")


SECTION = Section("figures", 10, "Figures", "The six baseline figures", _build, Layout.OPEN)
