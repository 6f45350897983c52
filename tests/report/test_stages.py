"""Stages on the page and in the text, from results made by hand."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.stages import Stages, StagesOfDevice
from nsysan.model.confidence import Confidence
from nsysan.model.results import Skipped
from nsysan.report.elements import Segment
from nsysan.report.formats.text import render_text
from nsysan.report.sections.stages import SECTION, StagesView
from tests.report.runs import run_of
from tests.report.staged import DEVICE


def view_of(*devices: StagesOfDevice) -> StagesView:
    view = SECTION.build(run_of(Stages(devices)))
    assert isinstance(view, StagesView)
    return view


def test_the_heading_names_what_takes_most_and_the_bars_are_parts() -> None:
    view = view_of(DEVICE)

    assert view.heading == (
        "Of the mean step of gpu0/p100, 100.000 ms with its waits, backward takes 50.0 %, data 20.0 % and gradient "
        "synchronization 20.0 %"
    )
    assert [[cell.text for cell in row] for row in view.bars.rows] == [
        ["data", "", "20.000 ms", "20.0 %", "20.000 ms", "30.000 ms", "ranges", "high"],
        ["backward", "", "50.000 ms", "50.0 %", "0 ns", "60.000 ms", "order 75.0 %", "low"],
        ["gradient synchronization", "", "20.000 ms", "20.0 %", "0 ns", "0 ns", "kernels", "medium"],
        ["not assigned", "", "10.000 ms", "10.0 %", "0 ns", "10.000 ms", "", ""],
    ]
    bar = view.bars.rows[1][1].bar
    assert bar is not None
    assert bar.segments == (Segment("0%", "60%", "compute_only"), Segment("60%", "40%", "overlapped"))
    assert [(entry.fill, entry.share) for entry in view.legend] == [
        ("compute_only", "40.0"),
        ("overlapped", "20.0"),
        ("exposed_communication", "20.0"),
        ("idle", "20.0"),
    ]
    assert view.sentences == (
        "90.0 % of the step belongs to a known stage, told by NVTX ranges.",
        (
            "Most of the time in which nothing computes lies in data and gradient synchronization: 20.000 ms each, "
            "20.0 % of the step."
        ),
    )
    footer = view.tables[0].footers[0]
    assert [cell.text for cell in footer] == [
        "mean step",
        "40.000000",
        "20.000000",
        "20.000000",
        "20.000000",
        "100.000000",
    ]


def test_of_several_devices_that_with_the_longest_step_is_shown_and_each_has_a_row() -> None:
    slower = replace(DEVICE, device="gpu1/p100", step_ns=2 * DEVICE.step_ns, confidence=Confidence.LOW)
    view = view_of(DEVICE, slower)

    assert view.context is not None
    assert view.context.endswith("Shown is gpu1/p100, whose mean step takes longest.")
    assert "NVTX ranges around backward would make it sure" in view.sentences[0]
    assert [[cell.text for cell in row] for row in view.tables[1].rows] == [
        ["gpu0/p100", "100.000 ms", "20.0 %", "50.0 %", "20.0 %", "10.0 %", "high"],
        ["gpu1/p100", "200.000 ms", "10.0 %", "25.0 %", "10.0 %", "5.0 %", "low"],
    ]


def test_the_text_says_it_in_a_line_and_a_run_without_stages_nothing() -> None:
    skipped = Skipped("stages", "no step is steady", None)

    text = render_text(run_of(Stages((DEVICE,))))

    assert "backward takes 50.0 %" in text
    assert "(90.0 % assigned, confidence" in text
    assert SECTION.build(run_of(skipped)) is None
    assert "Of a step" not in render_text(run_of(skipped))


def test_a_host_that_was_not_recorded_is_said_to_be_not() -> None:
    unrecorded = replace(DEVICE, stages=tuple(replace(found, host_ns=None) for found in DEVICE.stages))

    assert {row[5].text for row in view_of(unrecorded).bars.rows} == {"not recorded"}
