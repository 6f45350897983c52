"""Kernels by name and class, with figures worked out by hand, and medians against pandas."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nsysan.analysis.kernel_summary import KernelClassRow, KernelRow, KernelSummary, OmittedKernels
from nsysan.attribution.window import WindowChoice
from nsysan.model.kernels import Collective, KernelClass
from nsysan.model.results import Skipped
from nsysan.model.text import DISPLAY_LIMIT, text_hash
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)"


def test_rows_by_name_and_by_class(tmp_path: Path) -> None:
    export = Export().kernel(0, 10, "my_kernel").kernel(20, 50, "my_kernel", device=1).kernel(60, 80, "other_kernel")
    export.kernel(0, 40, ALL_REDUCE, stream=9)

    summary = result_of(analyze_exports(tmp_path, export), KernelSummary)

    def row(name: str, *figures: float, kernel_class: KernelClass = KernelClass.OTHER) -> KernelRow:
        collective = Collective.ALL_REDUCE if name == ALL_REDUCE else None
        return KernelRow(name, text_hash(name), kernel_class, collective, *figures)  # type: ignore[arg-type] # in order

    assert summary == KernelSummary(
        kernels=(
            row("my_kernel", 2, 2, 40, 20.0, 30, 0.4),
            row(ALL_REDUCE, 1, 1, 40, 40.0, 40, 0.4, kernel_class=KernelClass.COMMUNICATION),
            row("other_kernel", 1, 1, 20, 20.0, 20, 0.2),
        ),
        kernels_omitted=OmittedKernels(0, 0, 0),
        kernel_classes=(
            KernelClassRow(KernelClass.OTHER, 2, 3, 60, 20.0, 30, 0.6),
            KernelClassRow(KernelClass.COMMUNICATION, 1, 1, 40, 40.0, 40, 0.4),
        ),
    )


def test_a_window_clips_totals_but_not_medians(tmp_path: Path) -> None:
    export = Export().kernel(0, 100, "k").kernel(200, 260, "k").kernel(300, 400, "k")
    window = AnalyzeOptions(window=WindowChoice(90, 250))

    (row,) = result_of(analyze_exports(tmp_path, export, options=window), KernelSummary).kernels

    assert (row.count, row.total_ns, row.median_ns, row.p95_ns) == (2, 10 + 50, 80.0, 100)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 1000)), min_size=1, max_size=40))
def test_count_total_median_and_p95_equal_pandas(tmp_path: Path, drawn: list[tuple[str, int]]) -> None:
    export = Export()
    for start, (name, duration) in enumerate(drawn, start=1):
        export.kernel(start, start + duration, name)

    rows = result_of(analyze_exports(tmp_path, export), KernelSummary).kernels

    durations = pd.DataFrame(drawn, columns=["name", "ns"]).groupby("name")["ns"]
    expected = {
        name: (len(ns), ns.sum(), ns.median(), sorted(ns)[math.ceil(0.95 * len(ns)) - 1]) for name, ns in durations
    }
    assert {row.name: (row.count, row.total_ns, row.median_ns, row.p95_ns) for row in rows} == expected


def test_long_names_that_begin_alike_stay_apart(tmp_path: Path) -> None:
    names = ["x" * 60_000 + ending for ending in ("a", "b")]
    export = Export().kernel(0, 10, names[0]).kernel(10, 20, names[1])

    rows = result_of(analyze_exports(tmp_path, export), KernelSummary).kernels

    assert [row.name for row in rows] == [f"{'x' * DISPLAY_LIMIT}… #{text_hash(name)[:8]}" for name in names]  # C68


def test_graphs_recorded_whole_hold_kernels_nobody_knows(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().graph(0, 10))

    assert run.results.get(KernelSummary) == Skipped(
        "kernel_summary",
        "CUDA graphs were recorded whole, without their kernels",
        "Record with --cuda-graph-trace=node.",
    )


def test_a_job_that_only_copies_ran_no_kernels(tmp_path: Path) -> None:
    assert result_of(analyze_exports(tmp_path, Export().copy(0, 10, 8)), KernelSummary).kernels == ()


def test_names_lost_by_the_report_are_said_to_be(tmp_path: Path) -> None:
    export = Export().kernel(0, 10, "k").sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 999")

    run = analyze_exports(tmp_path, export)

    assert [row.name for row in result_of(run, KernelSummary).kernels] == ["<unknown:999>"]  # C66
    assert [(finding.id, finding.severity.value, finding.title) for finding in run.findings] == [
        ("unclassified_kernels", "warning", "100.0 % of kernel time has no known class and counts as compute")
    ]
