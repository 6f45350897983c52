"""Why the GPUs waited: shares over the job, exact times of each GPU, and start-up apart."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nsysan.analysis.gpu_time import GpuTime, StartUp
from nsysan.model.awaited import awaited
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.partition import PartTimes
from nsysan.model.results import Skipped
from nsysan.report.causes import cause_fill, cause_shares, cause_term, class_of_cause
from nsysan.report.elements import Bar, BarMark, Segment
from nsysan.report.section import Unanswered
from nsysan.report.sections.causes import SECTION, CausesView
from nsysan.report.terms import TERMS
from tests.report.gpu_times import EXPLAINED_GPUS, FIRST_CAUSES, FIRST_TIME, ONE_GPU, causes_of, gpu, gpu_time
from tests.report.runs import run_of


def view_of(gpus: GpuTime) -> CausesView:
    view = SECTION.build(run_of(gpus))
    assert isinstance(view, CausesView)
    return view


def test_shares_are_means_over_the_gpus_in_the_order_of_the_causes() -> None:
    # 60 and 200 of 1,000 ms, 30 and 50, 10 and 0
    shares = cause_shares(EXPLAINED_GPUS)

    assert list(shares) == [Cause.DATA_LOADING, Cause.LAUNCH_STARVED, Cause.HANDOVER]
    assert list(shares.values()) == pytest.approx([0.13, 0.04, 0.005])


def test_the_heading_names_the_largest_cause_and_its_share_of_the_window() -> None:
    single = gpu_time((gpu("gpu0", FIRST_TIME, causes=FIRST_CAUSES),))

    assert (view_of(EXPLAINED_GPUS).heading, view_of(single).heading) == (
        "On average GPUs waited for the data loader for 13.0 of the 17.5 % of the window in which nothing ran",
        "The GPU waited for the data loader for 6.0 of the 10.0 % of the window in which nothing ran",
    )


def test_next_to_no_idle_time_has_no_cause_worth_a_heading() -> None:
    # 40 of 100,000 ns
    hardly = PartTimes(99_960, 0, 0, 0, 0, 0, 40)
    waited = IdleCauses.of_times({Cause.HANDOVER: 40})

    assert view_of(gpu_time((gpu("gpu0", hardly, causes=waited),))).heading == (
        "The GPU idles for less than 0.1 % of the window"
    )


def test_the_largest_cause_comes_first_with_its_mean_and_a_mark_a_gpu() -> None:
    table = view_of(EXPLAINED_GPUS).tables[0]

    # of the windows 6 and 20 %, 3 and 5 %, 1 and 0 %; of 17.5 % idle
    assert [[cell.text for cell in row] for row in (*table.rows, *table.footers)] == [
        ["data loading", "", "13.0 %", "74.3 %", "20.0 %", "data"],
        ["launch starved", "", "4.0 %", "22.9 %", "5.0 %", "scheduling"],
        ["handover", "", "0.5 %", "2.9 %", "1.0 %", "scheduling"],
        ["idle", "", "17.5 %", "100.0 %", "", ""],
    ]
    assert [row[4].note for row in table.rows] == ["gpu1", "gpu1", "gpu0"]
    # 20 % reach as far as a mark may, 76 % of the cell; only there does a GPU stand apart from the mean
    assert [row[1].bar for row in table.rows] == [
        Bar((Segment("0%", "49.4%", "data_loading"),), marks=(BarMark("22.8%"), BarMark("76%", "gpu1"))),
        Bar((Segment("0%", "15.2%", "launch_starved"),), marks=(BarMark("11.4%"), BarMark("19%", "gpu1"))),
        Bar((Segment("0%", "1.9%", "handover"),), marks=(BarMark("3.8%"),)),
    ]


def test_of_one_gpu_the_causes_have_their_time_and_no_marks() -> None:
    table = view_of(gpu_time((gpu("gpu0", FIRST_TIME, causes=FIRST_CAUSES),))).tables[0]

    assert table.columns[4].label == "lasts"
    assert [(row[0].text, row[4].text) for row in table.rows] == [
        ("data loading", "60.000 ms"),
        ("launch starved", "30.000 ms"),
        ("handover", "10.000 ms"),
    ]
    assert all(row[1].bar is not None and not row[1].bar.marks for row in table.rows)


def test_the_causes_of_each_gpu_add_up_to_its_idle_time() -> None:
    table = view_of(EXPLAINED_GPUS).tables[2]

    assert [column.label for column in table.columns] == ["GPU", "data loading", "launch starved", "handover", "idle"]
    assert [[(cell.text, cell.note) for cell in row] for row in table.rows] == [
        [
            ("gpu0", None),
            ("60.000000", "6.0 %"),
            ("30.000000", "3.0 %"),
            ("10.000000", "1.0 %"),
            ("100.000000", "10.0 %"),
        ],
        [
            ("gpu1", None),
            ("200.000000", "20.0 %"),
            ("50.000000", "5.0 %"),
            ("0.000000", "0.0 %"),
            ("250.000000", "25.0 %"),
        ],
    ]


def test_bars_of_gpus_are_compared_to_the_idlest() -> None:
    first, second = view_of(EXPLAINED_GPUS).tables[1].rows

    # 100 of 250 ms
    assert first[1].bar is not None
    assert [segment.width for segment in first[1].bar.segments] == ["24%", "12%", "4%"]
    assert second[1].bar is not None
    assert [segment.width for segment in second[1].bar.segments] == ["80%", "20%"]
    assert (first[3].text, second[3].text) == ("the data loader", "the data loader")


def test_start_up_is_told_apart() -> None:
    started = StartUp(2_040_000_000, causes_of(module_loading=20, launch_starved=5))
    devices = (replace(EXPLAINED_GPUS.devices[0], start_up=started), EXPLAINED_GPUS.devices[1])
    table = view_of(replace(EXPLAINED_GPUS, devices=devices)).tables[3]

    assert [[cell.text for cell in row] for row in table.rows] == [
        ["gpu0/p100", "2.040000000s", "20.000000", "5.000000", "25.000000"]
    ]


def test_without_calls_the_causes_are_unknown_and_without_idle_time_there_is_nothing_to_explain() -> None:
    busy = gpu_time((gpu("gpu0", PartTimes(1_000, 0, 0, 0, 0, 0, 0), causes=causes_of()),))
    unknown = SECTION.build(run_of(ONE_GPU, Skipped("idle_causes", "no CUDA calls were recorded", None)))

    assert isinstance(unknown, Unanswered)
    assert unknown.reason == "No CUDA calls were recorded."
    assert (SECTION.build(run_of(busy)), SECTION.build(run_of())) == (None, None)


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_has_its_words_and_fill(cause: Cause) -> None:
    assert cause_term(cause) == TERMS[cause.value]
    assert all((cause_fill(cause), class_of_cause(cause), awaited(cause)))
