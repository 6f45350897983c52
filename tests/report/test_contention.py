"""Contention on the page and in the text, from results made by hand."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.contention import Contention, ContentionOfGpu, Overlap, SameStream
from nsysan.model.results import Skipped
from nsysan.report.formats.text import render_text
from nsysan.report.sections.contention import SECTION, ContentionView
from tests.report.recorded import MS
from tests.report.runs import run_of
from tests.report.staged import GPU, QUEUED, QUIET, SLOWED

SHARED_STREAM = (
    "On gpu0 20.0 % of the communication kernels' time (1 kernel) passes on the stream that computes, where nothing "
    "hides it."
)


def view_of(*gpus: ContentionOfGpu) -> ContentionView:
    view = SECTION.build(run_of(Contention(gpus, (SLOWED,), (QUEUED,))))
    assert isinstance(view, ContentionView)
    return view


def test_the_heading_says_what_is_won_and_sentences_who_waits() -> None:
    view = view_of(GPU, QUIET)

    assert view.heading == (
        "Compute that also ran alone loses 10.000 ms in 50.000 ms beside communication: 80.0 % of their overlap is won"
    )
    assert [view.sentences[place] for place in (0, 2, 3)] == [
        "On gpu0 2 communication kernels stood ready for 3.000 ms in all while compute ran that was launched later.",
        "On gpu0 1 compute kernel stood launched and ready for 7.000 ms while communication ran that it began after.",
        SHARED_STREAM,
    ]
    assert "depends on the architecture" in view.sentences[1]


def test_tables_hold_each_gpu_kernel_and_delay() -> None:
    gpus, kernels, delays = view_of(GPU, QUIET).tables

    assert [[cell.text for cell in row] for row in gpus.rows] == [
        ["gpu0", "100.000 ms", "60.000 ms", "50.000 ms", "10.000 ms", "40.000 ms", "3.000 ms", "7.000 ms", "20.0 %"],
        [
            "gpu1",
            "100.000 ms",
            "60.000 ms",
            *["not comparable"] * 3,
            *["not recorded"] * 2,
            "0.0 %",
        ],
    ]
    assert [(cell.text, cell.note) for cell in kernels.rows[0]] == [
        ("sgemm", None),
        ("gpu0", None),
        ("4 x 2 x 1", None),
        ("256 x 1 x 1", None),
        ("10.000 µs", None),
        ("12.500 µs", "+25.0 %"),
        ("12", None),
        ("30.000 µs", None),
    ]
    assert [cell.text for cell in delays.rows[0]] == [
        "ncclDevKernel_AllReduce",
        "gpu0",
        "0.005000000s",
        "2.000 ms",
        "sgemm",
    ]


def test_a_slowdown_within_what_durations_vary_by_is_none() -> None:
    even = replace(GPU, overlap=Overlap(12, 50 * MS, MS // 2, 50 * MS - MS // 2))

    assert view_of(even).heading == "Compute kernels are no slower beside communication than alone"


def test_where_nothing_can_be_compared_what_waits_is_the_heading_or_that_nothing_tells() -> None:
    assert view_of(replace(GPU, overlap=None)).heading.startswith("On gpu0 2 communication kernels stood ready")
    assert view_of(QUIET).heading.startswith("No kernel ran both alone and beside communication")
    assert view_of(QUIET).sentences == ()


def test_a_stray_kernel_on_the_compute_stream_is_not_worth_a_sentence() -> None:
    stray = replace(QUIET, same_stream=SameStream(1, MS, 0.01))

    assert view_of(stray).sentences == ()


def test_the_text_says_what_there_is_and_nothing_without_communication() -> None:
    text = render_text(run_of(Contention((GPU,), (SLOWED,), (QUEUED,))))

    assert "loses 10.000 ms in 50.000 ms beside communication" in text
    assert "stood ready for 3.000 ms in all" in text
    skipped = Skipped("contention", "no communication kernel ran", None)
    assert SECTION.build(run_of(skipped)) is None
    assert "beside" not in render_text(run_of(skipped))
