"""Text out of a trace stays text, wherever it is shown (cases C67, C68 and M13)."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from nsysan.analysis.gap_sentence import GapCall, GapSpan
from nsysan.analysis.gap_story import GapStory
from nsysan.analysis.idle_gaps import Gap
from nsysan.analysis.ranges import OperatorTimes
from nsysan.analysis.steps import Steps
from nsysan.model.findings import Evidence
from nsysan.model.idle import Cause
from nsysan.model.results import Skipped
from nsysan.model.run import Note, Provenance, Run
from nsysan.model.text import visible_text
from nsysan.model.trace import CaptureIdentity
from nsysan.report.formats.html import render_page
from nsysan.report.formats.text import render_text
from tests.report.drawn_lanes import TIMELINE
from tests.report.gpu_times import TWO_GPUS
from tests.report.joint_work import COLLECTIVES
from tests.report.pages import Page, squeezed
from tests.report.recorded import COPIES, GAPS, KERNELS, RANGES, STEPS, STEPS_OF_FIRST
from tests.report.runs import BASELINE, FINDING, HEADLINE, NO_VERDICT, REPORT, run_of

PAYLOADS = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    'x" href="#def-idle"',
    "{{7*7}}{% raw %}",
    "[red]x[/red]",
    "</style><style>*{display:none}",
    "<!-- -->&lt;b&gt;",
    "\x1b[31mred\x1b]0;title\x07",
    "line\u2028separator\u2029end",
    "right\u202eto left",
    "nul\x00and\r\nnewline",
    "=HYPERLINK(1)",
]


def hostile_run(payload: str) -> Run:
    """The payload in every field that can hold text of a trace."""
    gpus = tuple(replace(gpu, name=payload) for gpu in TWO_GPUS.gpus)
    devices = tuple(replace(device, excluded_records={payload: 1}) for device in TWO_GPUS.devices)
    call = GapCall(payload, 1, 2, 3)
    story = GapStory(
        payload,
        call,
        (GapSpan(0, 9, Cause.UNKNOWN, 3, payload, 9),),
        *[(payload,)] * 4,  # ranges, marks, before, after
    )
    gaps = replace(GAPS, gaps=(Gap(gpus[0].id, 0, 9, 9, payload, payload, {"unknown_ns": 9}, story),))
    marked = tuple(replace(step, marker=payload) for step in STEPS_OF_FIRST.list)
    steps = replace(STEPS.steps, marker=payload, devices=(replace(STEPS_OF_FIRST, marker=payload, list=marked),))
    inputs = (OperatorTimes(payload, 1, 1, 1),)
    names = tuple(
        replace(row, name=payload, domain=payload, categories=(payload,), shape_count=2, shapes=inputs)
        for row in RANGES.ranges
    )
    nodes = tuple(replace(node, name=payload, domain=payload) for node in RANGES.range_tree)
    kernels = replace(KERNELS, kernels=tuple(replace(row, name=payload) for row in KERNELS.kernels))
    row = replace(COPIES.copies[0], direction=payload, src_memory=payload, plausible_source=payload)
    told = (
        replace(one, kind=payload, backend=payload, communicator=payload, dtype=payload, unresolved=payload)
        for one in COLLECTIVES.collectives
    )
    collectives = replace(COLLECTIVES, collectives=tuple(told))
    drawn = replace(TIMELINE.timeline, names=(payload,) * len(TIMELINE.timeline.names))
    baseline = replace(BASELINE.baseline, unknown=dict.fromkeys(BASELINE.baseline.unknown, payload))
    report = replace(
        REPORT,
        name=payload,
        fingerprint=payload,
        sha256=payload,
        reader=payload,
        nsys_version=payload,
        export_schema=payload,
        unreadable_records={payload: 1},
    )
    finding = msgspec.structs.replace(
        FINDING, cause=payload, title=payload, evidence=(Evidence(payload, payload),), advice=(payload,)
    )
    headline = msgspec.structs.replace(HEADLINE, cause=payload, sentence=payload)
    return replace(
        run_of(
            replace(TWO_GPUS, gpus=gpus, devices=devices),
            Steps(steps),
            gaps,
            replace(RANGES, ranges=names, range_tree=nodes),
            kernels,
            replace(COPIES, copies=(row,)),
            replace(BASELINE, baseline=baseline),
            replace(TIMELINE, timeline=drawn),
            collectives,
            Skipped("launches", payload, payload),
        ),
        created_utc=payload,
        options={"range": payload},
        reports=(report,),
        notes=(Note("note", payload),),
        findings=(finding,),
        diagnosis=replace(NO_VERDICT, headline=headline),
        provenance=Provenance("nsysan", (CaptureIdentity(payload, payload, payload, payload),)),
    )


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_page_shows_hostile_text_and_nothing_of_it_becomes_markup(payload: str) -> None:
    page, sound = Page(render_page(hostile_run(payload))), Page(render_page(hostile_run("sound")))

    assert [tag for tag, _ in page.tags] == [tag for tag, _ in sound.tags]
    assert [sorted(attributes) for _, attributes in page.tags] == [sorted(attributes) for _, attributes in sound.tags]
    assert page.raw["script"] == sound.raw["script"]
    assert page.raw["style"] == sound.raw["style"]
    assert page.links == sound.links


@pytest.mark.parametrize("payload", PAYLOADS)
def test_every_sink_of_the_page_shows_the_text_as_it_is(payload: str) -> None:
    page = Page(render_page(hostile_run(payload)))
    shown = squeezed(visible_text(payload))
    sections = (
        "verdict",
        "figures",
        "time",
        "steps",
        "gaps",
        "ranges",
        "kernels",
        "copies",
        "findings",
        "notes",
        "unanswered",
        "provenance",
    )

    assert [section for section in sections if shown.lower() not in page.text(section).lower()] == []
    assert shown in squeezed(page.raw["title"])


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_format_lets_a_control_character_through(payload: str) -> None:
    for rendered in (render_text(hostile_run(payload)), render_page(hostile_run(payload))):
        assert all(line == visible_text(line) for line in rendered.split("\n"))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_text_shows_hostile_text_as_it_is(payload: str) -> None:
    assert visible_text(payload)[:20] in render_text(hostile_run(payload))


def test_hostile_and_sound_texts_of_the_same_lines_have_the_same_shape() -> None:
    assert len(render_text(hostile_run("[red]x[/red]")).splitlines()) == len(
        render_text(hostile_run("12-letters!!")).splitlines()
    )


def test_text_that_is_visible_already_is_left_alone() -> None:
    assert [visible_text(visible_text(payload)) for payload in PAYLOADS] == [
        visible_text(payload) for payload in PAYLOADS
    ]
