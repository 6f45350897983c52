"""A comparison as sentences, text and page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from nsysan.analysis.collective_figures import COLLECTIVE_RUNS
from nsysan.analysis.kernel_summary import KERNEL_MEDIANS
from nsysan.history.comparison import Comparison, compare
from nsysan.history.snapshot import KeptFinding, Snapshot
from nsysan.model.figures import Figure, Topic, Unit
from nsysan.model.results import Skipped
from nsysan.model.verdicts import Severity
from nsysan.report.comparison.page import render_page
from nsysan.report.comparison.quantities import signed, signed_fraction
from nsysan.report.comparison.sentences import sentences_of, state_comparison
from nsysan.report.comparison.text import render_text
from tests.history.snapshots import collective_figures_of, kernel_figures, shape_figures, snapshot, step_figures
from tests.report.comparisons import empty_comparison, full_comparison
from tests.report.pages import Page
from tests.report.test_hostile import PAYLOADS

M = "\u2212"
every_comparison = pytest.mark.parametrize("make", [full_comparison, empty_comparison])


def test_the_sentences_say_the_step_its_carriers_and_all_that_is_not_the_same() -> None:
    comparison = full_comparison()

    assert state_comparison(comparison) == (
        "The mean step takes 22.1 % less time, 109.000 instead of 140.000 ms: "
        f"idle by data_loading {M}25.000 ms, exposed communication {M}8.000 ms, computing +2.000 ms"
    )
    assert sentences_of(comparison) == (
        "Take care, these runs differ in what they ran on or recorded: GPU model.",
        "GPU model: A100 before, H100 after.",
        "Kernel gemm: +4.000 ms a step, 12 runs as before, +3.000 ms of it in grid 8.",
        f"Kernel old: {M}3.000 ms a step, 0 runs instead of 1.",
        (
            "1 finding before only, which is not to say solved, for these runs differ too much: "
            "The data loader is waited for."
        ),
        "1 finding after only, which is not to say new, for these runs differ too much: Something new.",
    )


def test_findings_of_runs_that_can_be_compared_are_solved_or_new() -> None:
    one, other, unanswered = (
        KeptFinding(name, None, Severity.WARNING, f"{name}, 3 ms", (name,)) for name in ("loader", "copies", "waits")
    )
    before = snapshot(*step_figures(100, 0, {}), findings=(one, unanswered))
    skipped = (Skipped("waits", "ranks are missing", None),)
    after = snapshot(*step_figures(100, 0, {}), findings=(other,), skipped=skipped)

    assert sentences_of(compare(before, after)) == (
        "1 finding solved: loader, 3 ms.",
        "1 finding new: copies, 3 ms.",
        "1 finding before only, which is not to say solved, for the run after does not answer that: waits, 3 ms.",
    )


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        # one shape as before: nothing to say beside the name
        ({"8x4": 40}, {"8x4": 44}, ""),
        ({"8x4": 40, "16": 10}, {"8x4": 44, "16": 10}, ", +4.000 ms of it in 8x4"),
        # no shape carries half of it
        ({"a": 10, "b": 10, "c": 10}, {"a": 11, "b": 11, "c": 11}, ""),
        # what is put together cannot be told apart
        ({"a": 10, "other shapes": 10}, {"a": 14, "other shapes": 10}, ""),
        ({}, {"a": 44}, ""),
    ],
)
def test_a_kernel_is_told_by_the_shape_it_changed_in(
    before: dict[str, float], after: dict[str, float], told: str
) -> None:
    def run(shapes: dict[str, float]) -> Snapshot:
        total_ms = sum(shapes.values()) or 30
        figures = [figure for shape, ms in shapes.items() for figure in shape_figures("gemm", shape, ms, 4)]
        return snapshot(*step_figures(100 + total_ms, 0, {}), *kernel_figures("gemm", total_ms, 4), *figures)

    comparison = compare(run(before), run(after))

    change = signed((sum(after.values()) - (sum(before.values()) or 30)) * 1e6, Unit.NS)
    assert sentences_of(comparison) == (f"Kernel gemm: {change} a step, 4 runs as before{told}.",)


def test_kernels_of_other_shapes_do_other_work_however_long_they_take() -> None:
    def run(shape: str, ms: float) -> Snapshot:
        figures = [*kernel_figures("gemm", ms + 10, 8), *kernel_figures("softmax", 60, 8)]
        shapes = [*shape_figures("gemm", shape, ms, 4), *shape_figures("gemm", "16", 10, 4)]
        return snapshot(*step_figures(100 + ms, 0, {}), *figures, *shapes)

    # 20 of 90 ms of kernels before
    other = (
        "Kernels of 22.2 % of the kernel time have other shapes than before, most gemm now 8x8 instead of 8x4: "
        "these runs may not do the same work, as where the batch differs."
    )
    assert sentences_of(compare(run("8x4", 20), run("8x8", 20))) == (other,)
    grown = "Kernel gemm: +20.000 ms a step, 8 runs as before, now 8x8 instead of 8x4."
    assert sentences_of(compare(run("8x4", 20), run("8x8", 40))) == (other, grown)
    # 2 of 72 ms
    assert sentences_of(compare(run("8x4", 2), run("8x8", 2))) == ()


@pytest.mark.parametrize(("wait_us", "is_told"), [(60, False), (160, True)])
def test_collectives_whose_change_is_nothing_beside_the_window_are_not_told(wait_us: int, *, is_told: bool) -> None:
    name, window = "all reduce over 4 ranks", Topic("window", "The window")

    def run(wait_us: int) -> Snapshot:
        figures = (
            Figure(window, "length", "length of the window", 1e9, Unit.NS),
            Figure(COLLECTIVE_RUNS, name, name, 10, Unit.COUNT),
        )
        return snapshot(*step_figures(100, 1, {}), *collective_figures_of(name, 1, wait_us / 1000), *figures)

    # ten of them, in all 0.4 or 1.4 ms of a second
    assert bool(sentences_of(compare(run(20), run(wait_us)))) is is_told


def test_the_time_of_a_kernel_that_communicates_is_told_as_waiting_and_transfer_where_they_are_known() -> None:
    def run(kernel_ms: float, wait_ms: float | None) -> Snapshot:
        known = () if wait_ms is None else collective_figures_of("all reduce over 4 ranks", 1, wait_ms)
        name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)"
        return snapshot(*step_figures(100, kernel_ms, {}), *kernel_figures(name, kernel_ms, 1), *known)

    assert sentences_of(compare(run(10, 9), run(50, 49))) == (
        "All reduce over 4 ranks: transfer 1.000 ms as before, wait a rank 49.000 instead of 9.000 ms.",
    )
    assert sentences_of(compare(run(10, None), run(50, None))) == (
        (
            "Kernel ncclDevKernel_AllReduce_Sum_bf16_RING_LL: +40.000 ms a step, 1 run as before, "
            "waiting for other ranks in it."
        ),
    )


@pytest.mark.parametrize(
    ("computing_ms", "sentence"),
    [
        (104.0, "The mean step takes 4.0 % more time, 104.000 instead of 100.000 ms: computing +4.000 ms"),
        (
            101.0,
            (
                "The mean step takes as long as before, 100.000 and now 101.000 ms, up to the 1.414 ms that means of "
                "such steps differ by chance: computing +1.000 ms"
            ),
        ),
        (
            99.9,
            (
                "The mean step takes as long as before, 100.000 and now 99.900 ms, up to the 1.414 ms that means of "
                "such steps differ by chance"
            ),
        ),
    ],
)
def test_a_step_is_longer_or_as_long_as_before(computing_ms: float, sentence: str) -> None:
    before, after = (snapshot(*step_figures(ms, 0, {}, error_ms=0.5)) for ms in (100, computing_ms))

    assert state_comparison(compare(before, after)) == sentence


def test_what_is_too_small_to_name_is_told_as_the_rest() -> None:
    before = snapshot(*step_figures(100, 0, {f"cause{place}": 0 for place in range(8)}))
    after = snapshot(*step_figures(100, 0, {f"cause{place}": 2 for place in range(8)}))

    assert state_comparison(compare(before, after)).endswith("idle by cause3 +2.000 ms, the rest +8.000 ms")


KERNEL = Figure(KERNEL_MEDIANS, "hash of gemm", "gemm", 2_000_000, Unit.NS)
NO_WORK = snapshot(skipped=(Skipped("gpu_time", "the trace holds no GPU work", None),))


@pytest.mark.parametrize("silent", ["before", "after"])
def test_what_a_run_without_gpu_work_lacks_is_neither_gone_nor_new(silent: str) -> None:
    window = Figure(Topic("window", "The window"), "length", "length", 2_000_000, Unit.NS)
    sides = (snapshot(KERNEL, window), NO_WORK)

    comparison = compare(*(sides if silent == "after" else sides[::-1]))

    told = f"Kernels are not comparable: the run {silent} tells none"
    text, page = render_text(comparison), Page(render_page(comparison))
    assert f"\n{told}.\n" in text
    assert told in render_page(comparison)
    assert not {"gone", "new"} & set(text.split())
    value = ["2.000 ms", ""] if silent == "after" else ["", "2.000 ms"]
    assert page.rows("window")[1:] == [["length", *value, "not comparable", ""]]


def test_kernels_of_steps_that_one_run_alone_has_are_not_gone() -> None:
    """Both know the median of the kernel."""
    comparison = compare(snapshot(*kernel_figures("gemm", 40, 12), KERNEL), snapshot(replace(KERNEL, value=3_000_000)))

    assert "gone" not in render_text(comparison)
    assert [row[:4] for row in Page(render_page(comparison)).rows("kernel-medians")[1:]] == [
        ["gemm", "2.000 ms", "3.000 ms", "+1.000 ms"]
    ]


def test_runs_that_know_nothing_cannot_be_compared() -> None:
    assert state_comparison(empty_comparison()) == (
        "These runs cannot be compared: neither run knows where its time went"
    )


@pytest.mark.parametrize(
    ("change", "unit", "text"),
    [
        (2_000_000, Unit.NS, "+2.000 ms"),
        (-0.4, Unit.NS, f"{M}0.4 ns"),
        (-0.0123, Unit.FRAC, f"{M}1.2 points"),
        (0.0001, Unit.FRAC, "0.0 points"),
        (1_500, Unit.COUNT, "+1,500"),
        (0.25, Unit.COUNT, "+0.2"),
        (-5e9, Unit.BYTES_PER_S, f"{M}5.000 GB/s"),
        (2e6, Unit.BYTES, "+2.000 MB"),
        (12, Unit.PER_S, "+12/s"),
    ],
)
def test_changes_have_a_sign_and_their_unit(change: float, unit: Unit, text: str) -> None:
    assert signed(change, unit) == text


def test_relative_changes_have_a_sign_unless_they_show_as_nothing() -> None:
    assert [signed_fraction(change) for change in (0.093, -0.5, 0.0001)] == ["+9.3 %", f"{M}50.0 %", "0.0 %"]


@every_comparison
def test_the_text_is_at_most_100_columns_wide(make: Callable[[], Comparison]) -> None:
    assert max(map(len, render_text(make()).splitlines())) <= 100


@every_comparison
def test_links_of_the_page_lead_somewhere_and_no_id_is_used_twice(make: Callable[[], Comparison]) -> None:
    page = Page(render_page(make()))

    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)


def test_the_page_shows_what_adds_up_kernels_findings_and_every_other_topic() -> None:
    page = Page(render_page(full_comparison()))

    assert page.rows("carriers") == [
        ["Part", "before", "after", "change", "relative"],
        ["idle by data_loading", "30.000 ms", "5.000 ms", f"{M}25.000 ms", f"{M}83.3 %"],
        ["exposed communication", "20.000 ms", "12.000 ms", f"{M}8.000 ms", f"{M}40.0 %"],
        ["computing", "80.000 ms", "82.000 ms", "+2.000 ms", "+2.5 %"],
        ["idle by host_sync", "10.000 ms", "10.000 ms", "0 ns", "0.0 %"],
        ["step", "140.000 ms", "109.000 ms", f"{M}31.000 ms", f"{M}22.1 %"],
    ]
    assert page.rows("step-kernels")[1:] == [
        ["gemm", "40.000 ms", "44.000 ms", "+4.000 ms", "+10.0 %", "12", "12"],
        ["old", "3.000 ms", "", "gone", "", "1", ""],
        ["new", "", "1.000 ms", "new", "", "", "1.5"],
    ]
    assert page.rows("step-kernel-shapes")[1:] == [
        ["gemm, grid 8", "30.000 ms", "33.000 ms", "+3.000 ms", "+10.0 %", "10", "10"],
        ["gemm, grid 4", "10.000 ms", "11.000 ms", "+1.000 ms", "+10.0 %", "2", "2"],
    ]
    assert page.rows("finding-changes")[1:] == [
        ["after only", "warning", "Something new"],
        ["before only", "warning", "The data loader is waited for"],
        ["still there", "warning", "Stays"],
    ]
    assert page.rows("copy-rates")[1:] == [["host to device", "20.000 GB/s", "25.000 GB/s", "+5.000 GB/s", "+25.0 %"]]
    assert page.rows("conditions")[1:] == [
        ["GPU model", "A100", "H100", "two different things"],
        ["steps told by", "nvtx", "not known", "to be known"],
    ]
    assert page.rows("one-sided")[1:] == [["launches", "after", "No calls were recorded.Record calls"]]


def test_hostile_names_stay_text() -> None:
    hostile = "".join(PAYLOADS)

    page, text = Page(render_page(full_comparison(hostile))), render_text(full_comparison(hostile))

    assert not {"img", "iframe"} & {tag for tag, _ in page.tags}
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert not {"\x1b", "\x00", "\x07", "\u2028", "\u202e", "\r"} & set(text)
