"""Kernels by class and by name."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.kernel_summary import KernelSummary, OmittedKernels
from nsysan.model.kernels import KernelClass
from nsysan.report.elements import Cell, Segment, Table
from nsysan.report.partition import class_fill
from nsysan.report.sections.kernels import SECTION, KernelsView
from tests.report.recorded import KERNELS, kernel
from tests.report.runs import run_of


def view_of(summary: KernelSummary) -> KernelsView:
    view = SECTION.build(run_of(summary))
    assert isinstance(view, KernelsView)
    return view


def texts(table: Table | None) -> list[list[str]]:
    assert table is not None
    return [[cell.text for cell in row] for row in (*table.rows, *table.footers)]


def test_the_heading_gives_the_largest_class_and_the_largest_name() -> None:
    assert (
        view_of(KERNELS).heading == "Kernels of class gemm hold 50.0 % of the kernel time; one name alone holds 50.0 %"
    )


def test_classes_show_their_figures_beside_a_bar() -> None:
    classes = view_of(KERNELS).classes

    assert texts(classes)[1] == ["other", "", "4", "257", "550.000 ms", "27.5 %", "2.000 ms", "2.000 ms"]
    assert classes is not None
    bars = [row[1].bar for row in classes.rows]
    assert [bar.segments for bar in bars if bar is not None] == [
        (Segment("0%", "100%", "compute_only"),),
        (Segment("0%", "55%", "compute_only"),),
        (Segment("0%", "45%", "exposed_communication"),),
    ]


def test_names_show_what_they_sort_by_and_what_is_left_out() -> None:
    names = view_of(KERNELS).names

    assert texts(names) == [
        ["sgemm", "gemm", "2", "10", "1.000 s", "50.0 %", "100.000 ms", "100.000 ms"],
        ["ncclDevKernel_AllReduce", "communication", "2", "10", "450.000 ms", "22.5 %", "45.000 ms", "45.000 ms"],
        ["mystery", "other", "2", "250", "500.000 ms", "25.0 %", "2.000 ms", "2.000 ms"],
        ["3 more names, not shown", "", "", "7", "50.000 ms", "", "", ""],
    ]
    assert names is not None
    assert [row[4].value for row in names.rows] == [1_000_000_000, 450_000_000, 500_000_000]


def test_no_row_speaks_of_omitted_names_where_there_are_none() -> None:
    names = view_of(replace(KERNELS, kernels_omitted=OmittedKernels(0, 0, 0))).names

    assert names is not None
    assert names.footers == ()


def test_large_names_of_no_known_family_are_marked() -> None:
    small = kernel("tiny", KernelClass.OTHER, 19_000_000)  # 0.95 % of 2 s
    names = view_of(replace(KERNELS, kernels=(*KERNELS.kernels, small))).names

    assert names is not None
    assert [row[1].note for row in names.rows] == [None, "all reduce", "no known family", None]


def test_a_share_that_is_unknown_is_a_word() -> None:
    row = replace(kernel("empty", KernelClass.GEMM, 0), work_frac=None)
    view = view_of(replace(KERNELS, kernels=(row,)))

    assert view.names is not None
    assert view.names.rows[0][5] == Cell("unknown", value=None)


def test_every_class_has_the_fill_of_the_part_it_makes_up() -> None:
    others = {KernelClass.COMMUNICATION: "exposed_communication", KernelClass.FUSED_COMMUNICATION: "fused"}

    assert {each: class_fill(each) for each in KernelClass} == {
        each: others.get(each, "compute_only") for each in KernelClass
    }
