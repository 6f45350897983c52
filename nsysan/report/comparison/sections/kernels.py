"""Kernel by kernel, matched by name, and by name and shape: time a step, runs, and the median of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nsysan.analysis.kernel_shapes import (
    KERNEL_SHAPE_MEDIANS,
    KERNEL_SHAPE_RUNS,
    STEP_KERNEL_SHAPE_RUNS,
    STEP_KERNEL_SHAPES,
)
from nsysan.analysis.kernel_summary import KERNEL_MEDIANS, KERNEL_RUNS
from nsysan.analysis.step_kernels import STEP_KERNEL_RUNS, STEP_KERNELS
from nsysan.history.comparison import Comparison
from nsysan.history.differences import Difference
from nsysan.model.units import counted
from nsysan.report.comparison.kernels import incomparable_kernels
from nsysan.report.comparison.quantities import change_cells, value_cell
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.section import Layout, Section, View

_TABLES = (
    (STEP_KERNELS, STEP_KERNEL_RUNS, "Time of each kernel in the mean steady step"),
    (STEP_KERNEL_SHAPES, STEP_KERNEL_SHAPE_RUNS, "Kernels of several shapes, the time of each in the mean steady step"),
    (KERNEL_MEDIANS, KERNEL_RUNS, "Median duration of each kernel in the windows"),
    (KERNEL_SHAPE_MEDIANS, KERNEL_SHAPE_RUNS, "Kernels of several shapes, the median duration of each in the windows"),
)
KERNEL_TOPICS = frozenset(topic.id for times, runs, _ in _TABLES for topic in (times, runs))
_SHOWN_COUNT = 300


class KernelsView(View, frozen=True):
    """Kernels in steps, where both runs have steps, and over the windows."""

    tables: tuple[Table, ...]


def _build(comparison: Comparison) -> KernelsView | None:
    if untold := incomparable_kernels(comparison):
        return KernelsView((), heading=untold)
    drawn = (_table(comparison, times.id, runs.id, caption) for times, runs, caption in _TABLES)
    tables = tuple(table for table in drawn if table is not None)
    if not tables:
        return None
    kernels = comparison.shared_topic(KERNEL_MEDIANS.id) or comparison.shared_topic(STEP_KERNELS.id)
    gone, new = (sum(kernel.after is None for kernel in kernels), sum(kernel.before is None for kernel in kernels))
    return KernelsView(
        tables,
        heading=f"{counted(len(kernels), 'kernel name')}: {new} new, {gone} gone",
        context="Matched by name, then by name and product or grid: a kernel in another shape does other work. Kernels "
        "run side by side, so their times do not add up to the step; those that communicate wait in theirs.",
    )


def _table(comparison: Comparison, times_id: str, runs_id: str, caption: str) -> Table | None:
    times = sorted(_of_several_shapes(comparison.shared_topic(times_id)), key=lambda one: -abs(one.moved))
    runs = {one.key: one for one in comparison.topic(runs_id)}
    if not times:
        return None
    omitted = len(times) - _SHOWN_COUNT
    return Table(
        id=times_id.replace("_", "-"),
        caption=f"{caption}, the largest change first",
        columns=(
            Column("Kernel"),
            Column("before", numeric=True, unit="ns"),
            Column("after", numeric=True, unit="ns"),
            Column("change", numeric=True, unit="ns"),
            Column("relative", numeric=True, unit="fraction"),
            Column("runs before", numeric=True),
            Column("runs after", numeric=True),
        ),
        rows=tuple(_row(one, runs.get(one.key)) for one in times[:_SHOWN_COUNT]),
        search="gemm, flash, nccl",
        note=f"{counted(omitted, 'more name')} in the JSON." if omitted > 0 else None,
    )


def _of_several_shapes(times: Sequence[Difference]) -> list[Difference]:
    """All of them where they are of names; of shapes only those whose kernel has another: else its name tells all."""
    names = Counter(one.key.partition(".")[0] for one in times)
    return [one for one in times if "." not in one.key or names[one.key.partition(".")[0]] > 1]


def _row(time: Difference, runs: Difference | None) -> tuple[Cell, ...]:
    counts = (None, None) if runs is None else (runs.before, runs.after)
    return (
        Cell(time.name, style="name"),
        value_cell(time.before, time.unit),
        value_cell(time.after, time.unit),
        *change_cells(time),
        *(Cell("") if runs is None else value_cell(count, runs.unit) for count in counts),
    )


SECTION = Section("kernels", 50, "Kernels", "Kernel by kernel", _build, Layout.WIDE, "comparison/tables.html")
