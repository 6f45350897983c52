"""Which kernels took the time: by class and by name."""

from __future__ import annotations

from collections.abc import Mapping

from nsysan.analysis.kernel_summary import KernelClassRow, KernelRow, KernelSummary
from nsysan.model.kernels import KernelClass
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_count, format_duration
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Place, Table, single_bar
from nsysan.report.partition import class_fill
from nsysan.report.places import kernel_places
from nsysan.report.prose import fraction_or, spelled
from nsysan.report.section import Layout, Section, Unanswered, View, unanswered
from nsysan.report.terms import TERMS

UNCLASSIFIED_FRAC = 0.01
"""Names of class other are marked from this share of the kernel time on."""

_UNKNOWN = "unknown"
_TIME_COLUMNS = (
    Column("count", TERMS["count"], numeric=True, sums=True),
    Column("total", TERMS["kernel_time"], numeric=True, unit="ns", sums=True),
    Column("share", TERMS["work_share"], numeric=True, unit="fraction", sums=True),
    Column("median", TERMS["median"], numeric=True, unit="ns"),
    Column("p95", TERMS["p95"], numeric=True, unit="ns"),
)


class KernelsView(View, frozen=True):
    """Kernels by class and by name."""

    classes: Table | None
    names: Table | None


def _build(run: Run) -> KernelsView | Unanswered:
    summary = run.results.get(KernelSummary)
    if isinstance(summary, Skipped):
        return unanswered(summary, "which kernels took the time")
    if not summary.kernels:
        return KernelsView(None, None, heading="No kernel ran in the windows")
    return KernelsView(
        heading=_heading(summary),
        context="Durations are added up over all GPUs and streams: a share of work, not of the window.",
        classes=_class_table(summary),
        names=_name_table(summary, kernel_places(run)),
    )


def _is_unclassified(row: KernelRow) -> bool:
    return row.kernel_class is KernelClass.OTHER and (row.work_frac or 0.0) >= UNCLASSIFIED_FRAC


def _heading(summary: KernelSummary) -> str:
    first_class, first_name = summary.kernel_classes[0], summary.kernels[0]
    label = spelled(first_class.kernel_class)
    share = fraction_or(first_class.work_frac, _UNKNOWN)
    alone = fraction_or(first_name.work_frac, _UNKNOWN)
    return f"Kernels of class {label} hold {share} of the kernel time; one name alone holds {alone}"


def _class_table(summary: KernelSummary) -> Table:
    largest_ns = max(row.total_ns for row in summary.kernel_classes)
    count, total, share, median, p95 = _TIME_COLUMNS
    return Table(
        id="kernel-classes",
        caption="Kernels by class",
        columns=(
            Column("Class", TERMS["kernel_class"]),
            Column("Time", bar=True),
            Column("names", TERMS["names"], numeric=True),
            count,
            total,
            share,
            median,
            p95,
        ),
        rows=tuple(_class_row(row, largest_ns) for row in summary.kernel_classes),
        source="kernel_classes[]",
    )


def _class_row(row: KernelClassRow, largest_ns: int) -> tuple[Cell, ...]:
    fill = class_fill(row.kernel_class)
    return (
        Cell(spelled(row.kernel_class), fill=fill),
        Cell("", bar=single_bar(fill, row.total_ns / largest_ns if largest_ns else 0.0)),
        cells.count(row.name_count),
        *_time_cells(row),
    )


def _name_table(summary: KernelSummary, places: Mapping[str, Place]) -> Table:
    return Table(
        id="kernel-names",
        caption="Kernels by name",
        columns=(
            Column("Kernel"),
            Column("class", TERMS["kernel_class"], notes="kind"),
            Column("GPUs", TERMS["gpu_count"], numeric=True),
            *_TIME_COLUMNS,
        ),
        rows=tuple(_name_row(row, places.get(row.name_hash)) for row in summary.kernels),
        footers=_omitted(summary),
        search="gemm, flash, nccl",
        source="kernels[]",
    )


def _name_row(row: KernelRow, longest: Place | None) -> tuple[Cell, ...]:
    kind = spelled(row.kernel_class)
    remark = None if row.collective is None else spelled(row.collective)
    if _is_unclassified(row):
        remark = "no known family"
    return (
        Cell(row.name, style="name", place=longest),
        Cell(kind, remark, fill=class_fill(row.kernel_class)),
        cells.count(row.gpu_count),
        *_time_cells(row),
    )


def _time_cells(row: KernelRow | KernelClassRow) -> tuple[Cell, ...]:
    """The cells of ``_TIME_COLUMNS``."""
    return (
        cells.count(row.count),
        cells.duration(row.total_ns),
        cells.fraction(row.work_frac, _UNKNOWN),
        cells.duration(row.median_ns),
        cells.duration(row.p95_ns),
    )


def _omitted(summary: KernelSummary) -> tuple[tuple[Cell, ...], ...]:
    omitted = summary.kernels_omitted
    if not omitted.name_count:
        return ()
    empty = Cell("")
    row = (
        Cell(f"{counted(omitted.name_count, 'more name')}, not shown"),
        empty,
        empty,
        Cell(format_count(omitted.count)),
        Cell(format_duration(omitted.total_ns)),
        empty,
        empty,
        empty,
    )
    return (row,)


SECTION = Section("kernels", 50, "Kernels", "Which kernels took the time", _build, Layout.WIDE)
