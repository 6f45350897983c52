"""How fast the job trains against what its GPUs could: MFU by both conventions, and what the gap costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_count, format_duration, format_flop, format_flop_rate, format_fraction
from nsysan.planning.throughput import GIVEN_PEAK, CostRow, ScalingRow, Throughput, ThroughputReport, UtilisationRow
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.layout_table import layout_table
from nsysan.report.prose import capitalized, ended, fraction_or, listed, spelled
from nsysan.report.section import Layout, Section, View
from nsysan.report.terms import TERMS


class ThroughputView(View, frozen=True):
    """The tables, and what they were counted from."""

    tables: tuple[Table, ...]
    sentences: tuple[str, ...]


def _build(run: Run) -> ThroughputView | None:
    found = run.results.get(Throughput)
    if isinstance(found, Skipped):
        return None
    report = found.throughput
    tables = (_utilisation(report.utilisation), layout_table(report.layouts), _costs(report.costs, report.world_size))
    scaling = () if report.scaling is None else (f"{capitalized(_scaling(report.scaling))}.",)
    sentences = (*scaling, *_gap(report), *_basis(report), *unknown_sentences(report))
    return ThroughputView(tuple(filter(None, tables)), sentences, heading=_listed(_figures(report)) or _NOTHING)


_NAMES = {
    "mfu": "MFU",
    "tokens_per_s": "tokens a second",
    "cost_per_hour": "the cost of an hour",
    "multiplying_flop_per_s": "the rate of kernels that multiply",
}


def unknown_sentences(report: ThroughputReport) -> Iterator[str]:
    """What is not known, each reason once: ``MFU and tokens a second are not known: needs the model``."""
    for why in dict.fromkeys(report.unknown.values()):
        names = [_NAMES[key] for key, reason in report.unknown.items() if reason == why]
        verb = "is" if names in (["MFU"], [_NAMES["cost_per_hour"]]) else "are"
        yield f"{capitalized(listed(names))} {verb} not known: {ended(why)}"


_NOTHING = "Neither throughput nor cost is known"


def throughput_sentence(report: ThroughputReport) -> str | None:
    """The figures in one sentence, with the convention of each; None where there is none."""
    scaling = [] if report.scaling is None else [_scaling(report.scaling)]
    return _listed([*_figures(report), *scaling])


def _listed(figures: Sequence[str]) -> str | None:
    return capitalized(", ".join(figures)) or None


def _figures(report: ThroughputReport) -> list[str]:
    """The figures of this run alone, with the convention of each."""
    told = [f"{report.tokens_per_s:,.0f} tokens a second"] if report.tokens_per_s is not None else []
    known = [row for row in report.utilisation if row.mfu is not None]
    told += [f"MFU {fraction_or(row.mfu, '')} ({row.attention.value} attention)" for row in known]
    if known and report.dtype is not None and report.peak_source != GIVEN_PEAK:
        told[-1] += f" of the {report.dtype} peak"
    if report.cost_per_hour is not None:
        told.append(f"{report.cost_per_hour:,.2f} an hour")
    return told


def throughput_paragraph(report: ThroughputReport) -> str:
    """The same for a text, with what is not known and why: a figure that is missing is said to be."""
    known = throughput_sentence(report)
    told = [] if known is None else [ended(known)]
    return " ".join(
        (*told, *_measured_sentences(report.utilisation), *_rate_sentences(report), *unknown_sentences(report))
    )


def _measured_sentences(rows: Sequence[UtilisationRow]) -> Iterator[str]:
    """MFU against the fastest product that was measured, where one was."""
    shares = [
        f"{format_fraction(row.mfu_of_measured)} ({row.attention.value} attention)"
        for row in rows
        if row.mfu_of_measured is not None
    ]
    if shares:
        yield f"Against the fastest product measured MFU is {listed(shares)}."


def _rate_sentences(report: ThroughputReport) -> Iterator[str]:
    """How fast the kernels are that multiply, by the first convention that tells."""
    row = next((row for row in report.utilisation if row.multiplying_flop_per_s is not None), None)
    if row is None or row.multiplying_flop_per_s is None or report.multiplying_ns_per_step is None:
        return
    peak = report.peak_flop_per_s
    share = "" if peak is None else f", {format_fraction(row.multiplying_flop_per_s / peak)} of the peak"
    yield (
        f"Kernels that multiply take {format_duration(report.multiplying_ns_per_step)} of a step and so reach "
        f"{format_flop_rate(row.multiplying_flop_per_s)}{share} ({row.attention.value} attention)."
    )


def _scaling(row: ScalingRow) -> str:
    """``efficiency 80.0 % of 8 GPUs (compute 0.952 x exposed communication 0.913 x waiting 0.920)``."""
    factors = (
        f"compute {row.compute:.3f} x exposed communication {row.exposed_communication:.3f} x waiting {row.waiting:.3f}"
    )
    of = "a token" if row.is_of_tokens else "a step with as much work a GPU"
    return f"efficiency {format_fraction(row.efficiency)} of {counted(row.smaller_gpu_count, 'GPU')}, {of} ({factors})"


def _basis(report: ThroughputReport) -> tuple[str, ...]:
    peak, dtype = report.peak_flop_per_s, f" of {report.dtype}" if report.dtype else ""
    told = []
    if peak is not None:
        told.append(f"Peak of one GPU: {peak / 1e12:,.1f} TFLOP/s dense{dtype}, {report.peak_source}.")
    if report.measured_flop_per_s is not None:
        told.append(
            f"Fastest product: {report.measured_flop_per_s / 1e12:,.1f} TFLOP/s{dtype}, {report.measured_source}."
        )
    told += _rate_sentences(report)
    if report.layouts and report.layouts[0].rate_source is not None:
        told.append(f"Links of this job's layout: {report.layouts[0].rate_source}.")
    if report.world_size is not None and report.tokens_per_step is not None:
        gpus = counted(report.world_size, "GPU")
        told.append(f"{format_count(report.tokens_per_step)} tokens a step on {gpus}.")
    if report.tokens_per_money is not None:
        told.append(f"{report.tokens_per_money:,.0f} tokens for one unit of the price.")
    return tuple(told)


def _gap(report: ThroughputReport) -> Iterator[str]:
    """What it costs that the job is less efficient than the smaller run."""
    row = report.scaling
    if row is None or not row.lost_frac:
        return
    hours = f"{row.lost_frac * row.gpu_count:,.1f} of {row.gpu_count:,} GPU-hours an hour"
    money = report.cost_per_hour
    priced = "" if money is None else f", {row.lost_frac * money:,.2f} of {money:,.2f} in money"
    yield (
        f"At {format_fraction(row.efficiency)} efficiency as much work takes {format_fraction(row.more_time_frac)} "
        f"more wall time than at that of {counted(row.smaller_gpu_count, 'GPU')}: the gap is {hours}{priced}."
    )


def _utilisation(rows: Sequence[UtilisationRow]) -> Table | None:
    if not rows:
        return None
    return Table(
        id="utilisation",
        caption="Utilisation by either convention of attention",
        columns=(
            Column("Attention"),
            Column("FLOP a token", TERMS["model_flop"], numeric=True, unit="FLOP"),
            Column("MFU", TERMS["mfu"], numeric=True, unit="fraction"),
            Column("HFU", TERMS["hfu"], numeric=True, unit="fraction"),
            Column("MFU of measured", TERMS["mfu_of_measured"], numeric=True, unit="fraction"),
            Column("HFU of measured", TERMS["mfu_of_measured"], numeric=True, unit="fraction"),
            Column("Kernels that multiply", TERMS["multiplying_rate"], numeric=True, unit="FLOP/s"),
            Column("counted"),
        ),
        rows=tuple(
            (
                Cell(row.attention.value),
                Cell(format_flop(row.flop_per_token), value=row.flop_per_token),
                Cell(fraction_or(row.mfu, "not known"), value=row.mfu),
                Cell(fraction_or(row.hfu, "not known"), value=row.hfu),
                Cell(fraction_or(row.mfu_of_measured, "not known"), value=row.mfu_of_measured),
                Cell(fraction_or(row.hfu_of_measured, "not known"), value=row.hfu_of_measured),
                cells.UNKNOWN
                if row.multiplying_flop_per_s is None
                else Cell(format_flop_rate(row.multiplying_flop_per_s), value=row.multiplying_flop_per_s),
                Cell("; ".join(row.conventions)),
            )
            for row in rows
        ),
        source="throughput.utilisation[]",
        is_ordered=True,
    )


def _costs(rows: Sequence[CostRow], gpu_count: int | None) -> Table | None:
    if not rows:
        return None
    return Table(
        id="costs",
        caption="What each finding's gain saves of the cost, alone: gains of two do not add up",
        columns=(
            Column("Finding"),
            Column("cause"),
            Column("saves", TERMS["saves"], numeric=True, unit="fraction"),
            Column("GPU-hours an hour", TERMS["saves"], numeric=True),
            Column("an hour", TERMS["saves"], numeric=True),
        ),
        rows=tuple(
            (
                Cell(spelled(row.finding)),
                Cell(spelled(row.cause)),
                Cell(format_fraction(row.saved_frac), value=row.saved_frac),
                cells.UNKNOWN
                if gpu_count is None
                else Cell(f"{row.saved_frac * gpu_count:,.2f}", value=row.saved_frac * gpu_count),
                Cell("no price", style="faint")
                if row.saved_per_hour is None
                else Cell(f"{row.saved_per_hour:,.2f}", value=row.saved_per_hour),
            )
            for row in rows
        ),
        source="throughput.costs[]",
    )


SECTION = Section("throughput", 32, "Throughput", "How fast it trains, and at what cost", _build, Layout.WIDE)
