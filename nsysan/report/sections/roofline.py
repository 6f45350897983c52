"""Products, copies and collectives against what the hardware was measured to reach, or is promised to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan.analysis.ceilings import HeldAgainst, LinkRow
from nsysan.analysis.gemms import GemmRow, Gemms
from nsysan.model.ceilings import Origin
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_duration, format_flop_rate, format_fraction
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table, single_bar
from nsysan.report.prose import capitalized, listed, spelled
from nsysan.report.roofline_chart import Roofline, roofline
from nsysan.report.section import Layout, Section, View
from nsysan.report.terms import TERMS

SHOWN_ROWS = 40


class RooflineView(View, frozen=True):
    """What is known of the ceilings in sentences, the charts, and the tables."""

    sentences: tuple[str, ...]
    charts: tuple[Roofline, ...]
    tables: tuple[Table, ...]


def _build(run: Run) -> RooflineView | None:
    gemms, held = run.results.get(Gemms), run.results.get(HeldAgainst)
    if isinstance(gemms, Skipped) and isinstance(held, Skipped):
        return None
    tables = (
        *([] if isinstance(gemms, Skipped) else [_gemm_table(gemms)]),
        *([] if isinstance(held, Skipped) or not held.links else [_link_table(held)]),
    )
    charts = [] if isinstance(gemms, Skipped) else [roofline(roof, gemms.gemms) for roof in gemms.gemm_roofs]
    return RooflineView(
        heading=_heading(gemms),
        context="Each product in FLOP/s over operations a byte; the line is what memory and arithmetic allow, "
        "dashed where that was not measured."
        if any(charts)
        else None,
        sentences=tuple(_sentences(gemms, held)),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=tables,
    )


SECTION = Section("roofline", 55, "Ceilings", "How far from what the hardware can do", _build, Layout.WIDE)


def _heading(gemms: Gemms | Skipped) -> str:
    if isinstance(gemms, Skipped):
        return "How fast the matrix products were is not known"
    lost = "against no ceiling" if gemms.gemm_lost_ns is None else f"lost {format_duration(gemms.gemm_lost_ns)}"
    return f"Matrix products {lost} of {format_duration(gemms.gemm_total_ns)}"


def _sentences(gemms: Gemms | Skipped, held: HeldAgainst | Skipped) -> Iterator[str]:
    if isinstance(gemms, Skipped):
        yield f"{capitalized(gemms.reason)}."
    else:
        yield f"Shapes are known of {format_fraction(gemms.gemm_coverage_frac)} of the time of matrix products."
        if gemms.gemm_shape_sources:
            yield f"They are those of {listed(gemms.gemm_shape_sources)}, by order of launch and name of kernel."
        if gemms.gemm_lost_ns_per_step is not None:
            yield f"The mean steady step loses {format_duration(gemms.gemm_lost_ns_per_step)} in them."
        yield from _shapes_left_out(gemms)
    if isinstance(held, Skipped):
        yield "No measured ceilings were given: data sheets stand in for them, which no product quite reaches."
        return
    yield from _of_file(held)


def caution_sentences(run: Run) -> Iterator[str]:
    """What to know of given ceilings before a figure held against them is believed, and what was left out."""
    held, gemms = run.results.get(HeldAgainst), run.results.get(Gemms)
    if isinstance(held, Skipped):
        return
    if held.ceilings.origin is Origin.SIMULATED:
        yield f"SIMULATED ceilings, {held.ceilings.source}."
    yield from _cautions(held)
    if not isinstance(gemms, Skipped):
        yield from _shapes_left_out(gemms)


def _shapes_left_out(gemms: Gemms) -> Iterator[str]:
    refused = [row for row in gemms.gemms if row.refused is not None]
    if refused:
        yield f"{counted(len(refused), 'shape')} left out: {refused[0].refused}."


def _of_file(held: HeldAgainst) -> Iterator[str]:
    if held.ceilings.origin is Origin.SIMULATED:
        yield f"SIMULATED ceilings, {held.ceilings.source}."
    else:
        yield f"Ceilings: {held.ceilings.source}."
    yield from _cautions(held)


def _cautions(held: HeldAgainst) -> Iterator[str]:
    for gpus in held.ceilings.gpus:
        if gpus.refused is not None:
            yield f"They tell nothing of {', '.join(gpus.gpus)}: {gpus.refused}."
        yield from gpus.warnings
    if held.ceilings_too_low:
        names = "; ".join(held.ceilings_too_low[:3])
        yield f"Too low a ceiling, for the run was faster: {names}. Measure again before trusting the others."


def _gemm_table(gemms: Gemms) -> Table:
    omitted = max(len(gemms.gemms) - SHOWN_ROWS, 0) + gemms.gemms_omitted_count
    return Table(
        id="gemm-table",
        caption="Matrix products by shape",
        columns=(
            Column("Product", notes="operators"),
            Column("of its ceiling", bar=True),
            Column("rate", TERMS["gemm_rate"], numeric=True, unit="FLOP/s", notes="doubt"),
            Column("ceiling", TERMS["ceiling"], numeric=True, unit="FLOP/s"),
            Column("known as"),
            Column("count", TERMS["count"], numeric=True),
            Column("total", TERMS["kernel_time"], numeric=True, unit="ns", sums=True),
            Column("lost", TERMS["lost_time"], numeric=True, unit="ns", sums=True),
        ),
        rows=tuple(_gemm_row(row) for row in gemms.gemms[:SHOWN_ROWS]),
        note=_note([row.ceiling_source for row in gemms.gemms], omitted),
        source="gemms[]",
    )


def _note(sources: Sequence[str | None], omitted: int) -> str | None:
    """Where the ceilings are from, and how many rows are not shown."""
    named = [source for source in dict.fromkeys(sources) if source is not None]
    of_ceilings = [f"Ceilings: {'; '.join(named)}."] if named else []
    left_out = [f"{counted(omitted, 'more shape')} left out here."] if omitted else []
    return " ".join([*of_ceilings, *left_out]) or None


def _gemm_row(row: GemmRow) -> tuple[Cell, ...]:
    batch = f"{row.batch} x " if row.batch > 1 else ""
    dtype = "type unknown" if row.dtype is None else row.dtype.value
    rate, ceiling = row.flop_per_s, row.ceiling_flop_per_s
    share = 0.0 if rate is None or not ceiling else min(rate / ceiling, 1.0)
    known_as = "" if row.ceiling_level is None else spelled(row.ceiling_level.value)
    return (
        Cell(f"{batch}{row.m} x {row.n} x {row.k}", dtype),
        Cell("", bar=single_bar("compute_only", share)),
        _rate(row),
        cells.UNKNOWN if ceiling is None else Cell(format_flop_rate(ceiling), value=ceiling),
        Cell(known_as),
        cells.count(row.count),
        cells.duration(row.total_ns),
        cells.UNKNOWN if row.lost_ns is None else cells.duration(row.lost_ns),
    )


def _rate(row: GemmRow) -> Cell:
    if row.flop_per_s is None:
        return Cell("not believable", style="faint")
    note = None
    if row.ceiling_flop_per_s is not None:
        # nothing above its ceiling is shown as good news
        note = "ceiling too low" if row.ceiling_is_too_low else format_fraction(row.flop_per_s / row.ceiling_flop_per_s)
    return Cell(format_flop_rate(row.flop_per_s), note, value=row.flop_per_s)


def _link_table(held: HeldAgainst) -> Table:
    return Table(
        id="link-table",
        caption="Copies against the links they cross",
        columns=(
            Column("Direction", notes="of which"),
            Column("of its ceiling", bar=True),
            Column("count", TERMS["count"], numeric=True),
            Column("mean size", TERMS["mean_size"], numeric=True, unit="bytes"),
            Column("rate", TERMS["copy_rate"], numeric=True, unit="bytes/s", notes="doubt"),
            Column("ceiling", TERMS["ceiling"], numeric=True, unit="bytes/s"),
            Column("known as"),
        ),
        rows=tuple(_link_row(row) for row in held.links),
        note=_note([row.ceiling_source for row in held.links], 0),
        source="links[]",
    )


def _link_row(row: LinkRow) -> tuple[Cell, ...]:
    memory = None if row.host_memory is None else row.host_memory.value
    share = row.rate_bytes_per_s / row.ceiling_bytes_per_s
    rate = cells.rate(row.rate_bytes_per_s)
    return (
        Cell(spelled(row.direction.value), memory),
        Cell("", bar=single_bar("exposed_copy", min(share, 1.0))),
        cells.count(row.count),
        cells.size(row.mean_bytes),
        Cell(rate.text, "ceiling too low" if row.is_above else format_fraction(min(share, 1.0)), value=rate.value),
        cells.rate(row.ceiling_bytes_per_s),
        Cell(spelled(row.ceiling_level.value)),
    )
