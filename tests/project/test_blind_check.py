"""The figures that ``docs/blind-check.md`` says are nsysan's are what nsysan says of those exports now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from nsysan.analysis.gpu_time import GpuTime
from nsysan.model.findings import Finding
from nsysan.model.run import Run
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.report.formats.text import render_text
from tests.runs import result_of

DOCUMENT = Path(__file__).parents[2] / "docs/blind-check.md"
TRACES = Path(__file__).parents[3] / "shared" / "traces"
EXPORTS = {
    "alltoall-2xH100-before": "alltoall-2xH100-before",
    "alltoall-2xH100-after": "alltoall-2xH100-after",
    "cloverleaf-A100": "cloverleaf-A100-2024.5",
    "transformer-RTX5000": "transformer-RTX5000-windows-2026.2",
    "gemm-sweep-A100": "gemm-sweep-A100-2022.1",
    "saxpy-mpi-A100": "saxpy-mpi-A100-2022.2",
}
SECOND = {name.split("-")[0]: name for name in EXPORTS} | {
    "alltoall-before": "alltoall-2xH100-before",
    "alltoall-after": "alltoall-2xH100-after",
    "gemm-sweep": "gemm-sweep-A100",
}
"""How the second reader's table calls them."""
NS_OF = {"s": 1e9, "ms": 1e6, "µs": 1e3, "us": 1e3}
FIGURE = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) (%|ms|s|µs|us)(?!\w)")

pytestmark = pytest.mark.skipif(not TRACES.exists(), reason="the shared real exports are not beside this checkout")


class Row(NamedTuple):
    """What the document says a reader and nsysan say of an export."""

    export: str
    reader: str
    told: str

    def figures(self) -> list[Figure]:
        """Those of nsysan, without any of the reader that it repeats."""
        found = [Figure(*figure) for figure in FIGURE.findall(self.told)]
        return [figure for figure in found if figure.text not in self.reader]


class Figure(NamedTuple):
    """A share in percent, or a time."""

    text: str
    unit: str

    @property
    def value(self) -> float:
        """In percent, or in ns."""
        return float(self.text.replace(",", "")) * NS_OF.get(self.unit, 1)

    def is_any_of(self, said: frozenset[tuple[float, bool]]) -> bool:
        """Whether one of the figures, with whether it is a time, rounds to this one."""
        digits = len(self.text.partition(".")[2])
        half = 0.5 * 10.0**-digits * NS_OF.get(self.unit, 1)
        is_time = self.unit in NS_OF
        return any(abs(value - self.value) <= half * 1.01 for value, is_a_time in said if is_a_time is is_time)


def rows() -> Iterator[Row]:
    first, second = DOCUMENT.read_text().split("## A second reader")
    for section in first.split("\n## ")[1:]:
        export = section.partition("\n")[0].strip()
        yield from (Row(export, *cells) for cells in table_of(section))
    export = ""
    for line in second.partition("### Beside the product")[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 2:
            named = re.match(r"`([\w-]+)`", cells[0])
            export = SECOND[named[1]] if named else export
            if export:
                yield Row(export, *cells)


def table_of(section: str) -> Iterator[list[str]]:
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 2 and cells[0] != "expert":
            yield cells


@cache
def run_of(export: str) -> Run:
    return analyze([TRACES / f"{EXPORTS[export]}.sqlite"], AnalyzeOptions())


@cache
def said_of(export: str) -> frozenset[tuple[float, bool]]:
    """Every share and time, and whether it is a time: in the text, in findings, of classes and of parts of the job."""
    run = run_of(export)
    texts = [render_text(run), *(part for found in run.findings for part in (found.title, *sentences(found)))]
    texts += [verdict.sentence or "" for verdict in run.diagnosis.classes.values()]
    figures = [Figure(*found) for text in texts for found in FIGURE.findall(text)]
    said = {(figure.value, figure.unit in NS_OF) for figure in figures}
    said |= {(100 * verdict.frac, False) for verdict in run.diagnosis.classes.values() if verdict.frac is not None}
    return frozenset(said | set(measured(run)))


def sentences(found: Finding) -> Iterator[str]:
    yield from (one.sentence for one in found.evidence)


def measured(run: Run) -> Iterator[tuple[float, bool]]:
    """Parts and causes of idle time, of each GPU and summed over them."""
    gpus = result_of(run, GpuTime).gpus
    for gpu in gpus:
        window_ns = gpu.window_end_ns - gpu.window_start_ns
        yield from ((100 * part_ns / window_ns, False) for part_ns in msgspec.to_builtins(gpu.time).values())
        yield (100 * gpu.time.idle_ns / window_ns, False)
        yield (gpu.time.idle_ns, True)
    causes = [msgspec.to_builtins(gpu.idle_causes) for gpu in gpus if gpu.idle_causes is not None]
    for cause in causes[0]:
        yield from ((times[cause], True) for times in causes)
        yield (sum(times[cause] for times in causes), True)


@pytest.mark.parametrize("row", [row for row in rows() if row.figures()], ids=lambda row: row.export)
def test_a_figure_of_the_document_is_one_that_nsysan_says(row: Row) -> None:
    assert [figure for figure in row.figures() if not figure.is_any_of(said_of(row.export))] == []


def test_every_export_has_figures_of_both_readers() -> None:
    first, second = {row.export for row in rows()}, [row.export for row in rows() if row.figures()]

    assert first == set(EXPORTS)
    assert len(second) >= 30
