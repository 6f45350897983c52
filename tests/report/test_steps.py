"""Training steps: their figures, the columns, who is left out, and where the timeline shows them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nsysan.analysis.steps import Steps
from nsysan.analysis.steps_of_device import StepsOfDevice
from nsysan.attribution.steps.job_steps import StepSource
from nsysan.model.results import Skipped
from nsysan.report.elements import Block, ChartColumn, Place
from nsysan.report.section import Unanswered
from nsysan.report.sections.steps import SECTION, StepsView
from nsysan.report.step_chart import HEIGHT, MOST_COLUMNS, step_chart
from nsysan.report.step_tables import SHOWN_STEP_COUNT, step_table
from nsysan.report.steps import distribution, left_out_sentence, slowest_device, trend
from tests.report.drawn_lanes import TIMELINE
from tests.report.gpu_times import EXPLAINED_GPUS
from tests.report.recorded import MS, STEPS, STEPS_OF_FIRST, step
from tests.report.runs import run_of


def view_of(*devices: StepsOfDevice) -> StepsView:
    view = SECTION.build(run_of(EXPLAINED_GPUS, TIMELINE, Steps(replace(STEPS.steps, devices=devices))))
    assert isinstance(view, StepsView)
    return view


def test_the_heading_states_median_worst_and_how_the_steps_are_spread() -> None:
    view = view_of(STEPS_OF_FIRST)

    assert view.heading == "The median step takes 70.000 ms, the worst 100.000 ms; 1 step in 2 takes over 1.2 medians"
    assert view.context == "The ranges “step *” mark them. Idle time between steps is inside them."
    assert view.sentences == (
        "Of 4 steady steps 90 % take at most 100.000 ms.",
        "Left out: 1 step as warm-up: they load code, or take over 1.5 medians before the others begin.",
        "The last step is not closed, for no step begins after it: its 4.000 ms are in no figure of steps.",
    )


def test_in_short_too_no_step_is_left_out_in_silence() -> None:
    # T21: others drop the last one and do not say so
    assert left_out_sentence(STEPS.steps) == "Left out: 1 step as warm-up and the open last."
    assert left_out_sentence(replace(STEPS.steps, excluded=())) == "Left out: the open last."
    closed = tuple(replace(device, open_ns=0) for device in STEPS.steps.devices)
    assert left_out_sentence(replace(STEPS.steps, excluded=(), devices=closed)) is None


def test_markers_that_differ_from_device_to_device_are_said_to() -> None:
    found = Steps(replace(STEPS.steps, marker=None))

    view = SECTION.build(run_of(EXPLAINED_GPUS, TIMELINE, found))

    assert isinstance(view, StepsView)
    assert view.context is not None
    assert view.context.startswith("The ranges “step *” mark them; on other devices other ranges do.")


def test_steps_told_from_the_kernels_are_called_a_heuristic() -> None:
    view = view_of(replace(STEPS_OF_FIRST, source=StepSource.HEURISTIC))

    assert view.context is not None
    assert "which is a heuristic" in view.context
    assert view.tables[0].rows[0][1].text == "period of the kernels"


@pytest.mark.parametrize(
    ("count", "slow_count", "slow_every", "expected"),
    [
        (8, 0, None, "no step takes over 1.2 medians"),
        (8, 2, 4, "1 step in 4 takes over 1.2 medians"),
        # two steps 4 apart among a hundred are no rule
        (100, 2, 4, "2 of 100 steps take over 1.2 medians"),
        (8, 1, None, "1 of 8 steps takes over 1.2 medians"),
    ],
)
def test_slow_steps_are_a_rule_only_where_they_are_one(
    count: int, slow_count: int, slow_every: int | None, expected: str
) -> None:
    device = replace(STEPS_OF_FIRST, count=count, slow_count=slow_count, slow_every=slow_every)

    assert distribution(device) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (0.125, "The last third of them takes 12.5 % longer than the first."),
        (-0.5, "The last third of them takes 50.0 % less than the first."),
        (0.001, None),
        (None, None),
    ],
)
def test_a_trend_is_told_where_there_is_one(change: float | None, expected: str | None) -> None:
    assert trend(replace(STEPS_OF_FIRST, trend_frac=change)) == expected


def test_a_column_stands_on_the_line_with_the_idle_time_on_top() -> None:
    # step 1: 24 of 100 ms compute, 14 ms wait for data and 2 ms are handover; 180 px are 100 ms
    chart = step_chart(STEPS_OF_FIRST, {})

    first, second, *_ = chart.columns
    assert second == ChartColumn(
        (
            Block("20%", "17.2%", "136.8", "43.2", "compute_only"),
            Block("20%", "17.2%", "111.6", "25.2", "data_loading"),
            Block("20%", "17.2%", "108", "3.6", "handover"),
        ),
        "step 2, 40.000 ms",
        None,
    )
    assert [block.fill for block in first.blocks] == [
        "compute_only left-out",
        "data_loading left-out",
        "handover left-out",
    ]
    assert chart.line_y == "54"


def test_many_steps_share_columns_and_none_of_the_longest_is_lost() -> None:
    steps = tuple(step(number, 90 if number == 777 else 30, 2) for number in range(1_000))
    device = replace(STEPS_OF_FIRST, step_count=1_000, list=steps)
    view = view_of(device)

    columns = step_chart(device, {}).columns
    assert len(columns) <= MOST_COLUMNS
    assert [column.label for column in columns if any(block.y == "0" for block in column.blocks)] == [
        "step 778, 90.000 ms"
    ]
    assert view.note.startswith("A column is the longest of 9 steps in a row: ")
    assert HEIGHT == 180
    table = step_table(device, {})
    assert (len(table.rows), table.rows[0][0].text, table.caption) == (
        SHOWN_STEP_COUNT,
        "778",
        "The 60 longest of 1,000 steps of gpu0/p100",
    )


def test_steps_lead_to_their_place_in_the_timeline() -> None:
    view = view_of(STEPS_OF_FIRST)
    rows = view.tables[2].rows

    assert view.chart.columns[1].place == rows[1][0].place
    assert rows[1][0].place == Place("step", "gpu0", 2_100 * MS, 2_140 * MS)
    assert [[cell.text for cell in row] for row in rows[:2]] == [
        ["1", "step 0", "2.000000000s", "", "80.000 ms", "10.000 ms", "the data loader", "no, warm up"],
        ["2", "step 1", "2.100000000s", "", "40.000 ms", "16.000 ms", "the data loader", "yes"],
    ]


def test_a_device_on_another_clock_than_its_gpu_s_leads_nowhere() -> None:
    devices = (replace(EXPLAINED_GPUS.devices[0], id="elsewhere", report=1), *EXPLAINED_GPUS.devices)
    first = replace(EXPLAINED_GPUS.gpus[0], devices=("elsewhere", "gpu0/p100"))
    gpus = replace(EXPLAINED_GPUS, gpus=(first, EXPLAINED_GPUS.gpus[1]), devices=devices)
    view = SECTION.build(run_of(gpus, TIMELINE, STEPS))

    assert isinstance(view, StepsView)
    assert {row[0].place for row in view.tables[2].rows} == {None}


def test_the_device_with_the_slowest_median_is_shown() -> None:
    slower = replace(STEPS_OF_FIRST, id="gpu1/p100", median_ns=71.0 * MS)

    assert slowest_device(replace(STEPS.steps, devices=(STEPS_OF_FIRST, slower))) is slower
    context = view_of(STEPS_OF_FIRST, slower).context
    assert context is not None
    assert "Shown is gpu1/p100, whose median step takes longest." in context


def test_without_steady_steps_nothing_is_said_of_them() -> None:
    nothing = replace(
        STEPS_OF_FIRST, count=0, median_ns=None, mean_ns=None, p90_ns=None, max_ns=None, time=None, idle_causes=None
    )
    view = view_of(nothing)

    assert view.heading == "None of 5 steps is steady"
    assert view.chart.line_y is None
    assert [table.id for table in view.tables] == ["step-devices", "step-list"]


def test_without_steps_it_is_said_why() -> None:
    view = SECTION.build(run_of(Skipped("steps", "no range numbers iterations", "Mark each step")))

    assert isinstance(view, Unanswered)
    assert view.heading == "This run cannot say how long a training step takes"
