"""How busy the units of the GPUs are, by sampled counters; nothing is said where nothing was sampled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from nsysan.analysis.counters import CounterMeans, Counters, CountersOfGpu
from nsysan.analysis.network_counters import NetworkCounter
from nsysan.model.counters import COUNTERS, Counter
from nsysan.model.partition import Part
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_count, format_duration, format_fraction
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table, single_bar
from nsysan.report.partition import part_term
from nsysan.report.prose import capitalized, listed, spelled
from nsysan.report.section import Layout, Section, View
from nsysan.report.terms import TERMS

COUNTER_NAMES = {
    Counter.GR_ACTIVE: "engine active",
    Counter.SM_ACTIVE: "multiprocessors active",
    Counter.SM_ISSUE: "instructions issued",
    Counter.TENSOR_ACTIVE: "tensor cores active",
    Counter.SM_OCCUPANCY: "compute warps in flight",
    Counter.DRAM_READ: "memory read",
    Counter.DRAM_WRITE: "memory written",
    Counter.PCIE_RX: "PCIe in",
    Counter.PCIE_TX: "PCIe out",
    Counter.NVLINK_RX: "NVLink in",
    Counter.NVLINK_TX: "NVLink out",
}
SHOWN_ADAPTER_COUNTERS = 64
_HEADLINE = (Counter.SM_ACTIVE, Counter.TENSOR_ACTIVE)
_NOT_SAMPLED = "no sample"


class CountersView(View, frozen=True):
    """A row a counter, its means over all GPUs; and what network adapters counted."""

    tables: tuple[Table, ...]


def _build(run: Run) -> CountersView | None:
    found = run.results.get(Counters)
    if isinstance(found, Skipped):
        return None
    tables = (_counter_table(found.counters), _network_table(found.network_counters))
    return CountersView(
        heading=counters_sentence(found),
        context=_context(found.counters),
        tables=tuple(table for table in tables if table is not None),
    )


def counters_sentence(found: Counters) -> str:
    """How busy multiprocessors and tensor cores are in the window, mean over the GPUs."""
    if not found.counters:
        return f"{counted(len(found.network_counters), 'network counter')} but none of a GPU"
    known = [
        f"{COUNTER_NAMES[counter]} {format_fraction(mean)}"
        for counter in _HEADLINE
        if (mean := _mean(_of_counter(found.counters, counter), lambda means: means.window_frac)) is not None
    ]
    return f"{capitalized(listed(known))} of the window" if known else "None of the main counters was sampled"


def _context(gpus: Sequence[CountersOfGpu]) -> str | None:
    if not gpus:
        return None
    clocks_hz = [gpu.gpc_clock_hz for gpu in gpus if gpu.gpc_clock_hz is not None]
    clock = (
        f" Multiprocessors run at {min(clocks_hz) / 1e9:.3f} GHz or more, mean over the window." if clocks_hz else ""
    )
    unknown = ""
    if any(gpu.gpu is None for gpu in gpus):
        unknown = " The report does not tell which process used which GPU: parts and steps are unknown."
    return (
        f"A sample every {format_duration(gpus[0].period_ns)}, {counted(len(gpus), 'GPU')}. A part is told by the "
        f"samples that lie wholly in it; where there is none, it is unknown, not zero.{clock}{unknown}"
    )


def _counter_table(gpus: Sequence[CountersOfGpu]) -> Table | None:
    sampled = [counter for counter in COUNTERS if _of_counter(gpus, counter)]
    if not sampled:
        return None
    everything = [found for gpu in gpus for found in gpu.counters]
    parts = [part for part in Part if _part_mean(everything, part) is not None]
    return Table(
        id="counter-table",
        caption="Share of what each unit can do, mean over the GPUs",
        columns=(
            Column("Counter", TERMS["counter"]),
            Column("Window", bar=True),
            Column("window", TERMS["window"], numeric=True, unit="fraction"),
            Column("least", TERMS["over_gpus"], numeric=True, unit="fraction"),
            Column("most", TERMS["over_gpus"], numeric=True, unit="fraction"),
            Column("steady steps", TERMS["steady"], numeric=True, unit="fraction"),
            *(Column(spelled(part), part_term(part), numeric=True, unit="fraction") for part in parts),
        ),
        rows=tuple(_counter_row(_of_counter(gpus, counter), parts) for counter in sampled),
        source="counters[].counters[]",
        is_ordered=True,
    )


def _counter_row(means: Sequence[CounterMeans], parts: Sequence[Part]) -> tuple[Cell, ...]:
    windows = [found.window_frac for found in means]
    return (
        Cell(COUNTER_NAMES[means[0].counter]),
        Cell("", bar=single_bar("host", fmean(windows))),
        cells.fraction(fmean(windows), _NOT_SAMPLED),
        cells.fraction(min(windows), _NOT_SAMPLED),
        cells.fraction(max(windows), _NOT_SAMPLED),
        cells.fraction(_mean(means, lambda found: found.steps_frac), _NOT_SAMPLED),
        *(cells.fraction(_part_mean(means, part), _NOT_SAMPLED) for part in parts),
    )


def _of_counter(gpus: Sequence[CountersOfGpu], counter: Counter) -> list[CounterMeans]:
    return [found for gpu in gpus for found in gpu.counters if found.counter is counter]


def _mean(means: Sequence[CounterMeans], of: Callable[[CounterMeans], float | None]) -> float | None:
    """The mean over the GPUs of which it is known."""
    known = [value for found in means if (value := of(found)) is not None]
    return fmean(known) if known else None


def _part_mean(means: Sequence[CounterMeans], part: Part) -> float | None:
    return _mean(means, lambda found: found.part_fracs.of(part))


def _network_table(found: Sequence[NetworkCounter]) -> Table | None:
    if not found:
        return None
    omitted_count = len(found) - SHOWN_ADAPTER_COUNTERS
    return Table(
        id="network-counters",
        caption="Counters of network adapters while the GPUs of their report were at work",
        columns=(
            Column("Adapter"),
            Column("report", TERMS["report_number"], numeric=True),
            Column("port", TERMS["network_port"], numeric=True),
            Column("counter"),
            Column("mean", TERMS["sampled"], numeric=True),
            Column("most", TERMS["sampled"], numeric=True),
            Column("unit"),
        ),
        rows=tuple(_network_row(counter) for counter in found[:SHOWN_ADAPTER_COUNTERS]),
        note=f"{format_count(omitted_count)} more counters are in run.json." if omitted_count > 0 else None,
        source="network_counters[]",
    )


def _network_row(counter: NetworkCounter) -> tuple[Cell, ...]:
    return (
        Cell(counter.adapter, style="name"),
        cells.number(counter.report),
        cells.number(counter.port),
        Cell(counter.counter, style="name"),
        Cell(f"{counter.mean_value:,.1f}", value=counter.mean_value),
        cells.count(counter.max_value),
        Cell(counter.unit, style="name"),
    )


SECTION = Section("counters", 56, "Counters", "How busy the units of the GPU are", _build, Layout.WIDE)
