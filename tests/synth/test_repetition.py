"""Recordings in a row: their truth against one worked out from all of them, their rows against ones written singly."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from nsysan.analysis.gpu_time import GpuTime
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.files import write
from nsysan.synth.generate import generate
from nsysan.synth.numbering import Numbering
from nsysan.synth.placement import Layout, placements
from nsysan.synth.recording import record
from nsysan.synth.recording_plan import RecordingPlan, repetition_of
from nsysan.synth.repetition import Repetition, in_a_row
from nsysan.synth.request import Request
from nsysan.synth.scenario import Scenario, all_scenarios, find_scenario
from nsysan.synth.simulation.engine import simulate
from nsysan.synth.simulation.program import (
    Action,
    HostWork,
    Launch,
    Pop,
    Push,
    RecordEvent,
    Synchronize,
    WaitEvent,
    copy,
)
from nsysan.synth.simulation.timelines import RankTimeline
from nsysan.synth.system.memory import Footprint
from nsysan.synth.trace_kind import TraceKind
from nsysan.synth.truth.job_truth import RankTruth, rank_truth
from nsysan.synth.truth.repeated_truth import repeated_truth
from tests.runs import result_of
from tests.synth.programs import launch, run

PLACE = placements("x", 1, Layout.ONE)[0]
BATCH = Launch("cudaMemcpyAsync_v3020", 2_000, 7, copy(1, 4_096, 3_000))
steps: st.SearchStrategy[list[Action]] = st.one_of(
    st.builds(lambda ns: [launch(ns, call_ns=4_000)], st.integers(1, 300_000)),
    st.builds(lambda ns: [launch(ns, stream_id=8)], st.integers(1, 300_000)),
    st.builds(lambda ns: [HostWork(ns)], st.integers(0, 1_500_000)),
    st.builds(lambda ns: [HostWork(ns, "data_loading")], st.integers(0, 500_000)),
    st.just([Synchronize()]),
    st.just([RecordEvent("e", 7), WaitEvent("e", 8)]),
)


@st.composite
def programs(draw: st.DrawFn) -> list[Action]:
    """Numbered steps, each with a long kernel on the compute stream, and whatever else."""
    program: list[Action] = []
    for number in range(draw(st.integers(1, 3))):
        program += [Push(f"step {number}", marks_step=True), launch(2_000_000)]
        for some in draw(st.lists(steps, max_size=4)):
            program += some
        program.append(Pop())
    return program


def repetition_for(timeline: RankTimeline, count: int, pause_ns: int) -> Repetition:
    """Recordings ``pause_ns`` apart."""
    last_ns = max(timeline.spans[-1].end_ns, *(work.end_ns for work in timeline.works))
    numbering = Numbering(prefix="step ", count=sum(found.marks_step for found in timeline.ranges))
    return Repetition(count=count, period_ns=last_ns + pause_ns, numbering=numbering)


def truth_of(timeline: RankTimeline) -> RankTruth:
    """As if a file held the compute stream alone."""
    return rank_truth(timeline, PLACE, [work for work in timeline.works if work.stream_id == 7])


@settings(deadline=None)
@given(programs(), st.integers(2, 5), st.integers(1, 20_000_000))
def test_the_truth_of_recordings_in_a_row_is_that_of_one_long_timeline(
    program: list[Action], count: int, pause_ns: int
) -> None:
    timeline = run(*program)
    repetition = repetition_for(timeline, count, pause_ns)

    grown = repeated_truth(truth_of(timeline), truth_of(in_a_row(timeline, repetition, 2)), repetition)

    assert grown == truth_of(in_a_row(timeline, repetition, count))


def test_three_recordings_on_paper() -> None:
    # a kernel of 10 is called at 5: it runs in [5, 15); the thread works until 20, the next recording begins at 100
    timeline = run(Push("step 0", marks_step=True), HostWork(5, "data_loading"), launch(10), HostWork(15), Pop())
    repetition = Repetition(count=3, period_ns=100, numbering=Numbering(prefix="step ", count=1))

    truth = repeated_truth(truth_of(timeline), truth_of(in_a_row(timeline, repetition, 2)), repetition)

    # idle in [15, 105) and [115, 205): working and pausing until 100 and 200, then loading for 5
    assert (truth.window_start_ns, truth.window_end_ns, truth.idle_gap_count) == (5, 215, 2)
    assert (truth.time.compute_only_ns, truth.time.idle_ns, truth.longest_idle_gap_ns) == (30, 180, 90)
    assert truth.idle_causes == {"data_loading_ns": 2 * 5, "launch_starved_ns": 2 * 85}
    assert [(step.marker, step.start_ns, step.end_ns) for step in truth.steps] == [
        ("step 0", 5, 105),
        ("step 1", 105, 205),
    ]


PROGRAM: list[Action] = [
    *(
        Push("step 0", marks_step=True),
        Push("step by step"),
        Push("step 1 of 2"),
        HostWork(5_000, "data_loading"),
        BATCH,
        launch(10_000, call_ns=2_000),
    ),
    *(RecordEvent("e", 7), WaitEvent("e", 8), launch(7_000, stream_id=8), Pop(), Pop(), Pop()),
    *(Push("step 1", marks_step=True), launch(90_000), Synchronize(), Pop()),
]
STEPS = Numbering(prefix="step ", count=2)


def rows_by_table(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows, in order of their columns, without correlation ids, which may be numbered in any way."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
        found = {}
        for table in tables:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            named = ", ".join(f'"{column}"' for column in columns if column != "correlationId")
            found[table] = sorted(connection.execute(f"SELECT {named} FROM {table}"), key=repr)
    return found


@pytest.mark.parametrize("schema", ["3.7", "3.25"])
def test_rows_that_sqlite_copies_are_those_written_singly(schema: str, tmp_path: Path) -> None:
    simulation = simulate([PROGRAM])
    repetition = repetition_of(simulation, 3, STEPS)
    # of memory, what is reserved and what is exchanged differs: it has a test of its own
    kinds = frozenset(TraceKind) - {TraceKind.MEMORY}
    plan = RecordingPlan(schema=schema, kinds=kinds, repetition=repetition, footprint=Footprint(1, 1, 1))
    once = replace(plan, repetition=replace(repetition, count=1, period_ns=3 * repetition.period_ns))
    long = replace(simulation, ranks=(in_a_row(simulation.ranks[0], repetition, 3),))

    [copied] = record(simulation, [PLACE], plan).values()
    [singly] = record(long, [PLACE], once).values()

    copied_rows = rows_by_table(copied.write(tmp_path / "copied.sqlite"))
    assert copied_rows == rows_by_table(singly.write(tmp_path / "singly.sqlite"))
    assert [len(copied_rows[table]) for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "OSRT_API")] == [9, 9]


def test_every_copied_call_launches_its_own_copy_of_the_work(tmp_path: Path) -> None:
    simulation = simulate([PROGRAM])
    repetition = repetition_of(simulation, 4, STEPS)
    kinds = frozenset({TraceKind.CUDA})
    plan = RecordingPlan(schema="3.25", kinds=kinds, repetition=repetition, footprint=Footprint(1, 1, 1))

    [export] = record(simulation, [PLACE], plan).values()

    with closing(sqlite3.connect(export.write(tmp_path / "x.sqlite"))) as connection:
        launched = connection.execute(
            """SELECT r.start, r.end, k.start, k.end FROM CUPTI_ACTIVITY_KIND_KERNEL k
               JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) ORDER BY k.start"""
        ).fetchall()
    works = in_a_row(simulation.ranks[0], repetition, 4).works
    kernels = [work for work in works if work.task.name]
    assert launched == [(work.call.start_ns, work.call.end_ns, work.start_ns, work.end_ns) for work in kernels]


@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.name)
@pytest.mark.parametrize("schema", ["3.7", "3.25"])
def test_the_partition_of_a_repeated_job_is_its_truth(scenario: Scenario, schema: str, tmp_path: Path) -> None:
    request = Request(scenario=scenario, rank_count=2, step_count=2, schema=schema, recording_count=3)
    apart = {} if schema == "3.7" else {"layout": Layout.PER_RANK, "clock_error_ns": 1_000_000}
    generated = generate(replace(request, **apart))

    paths = [path for path in write(generated, tmp_path) if path.suffix == ".sqlite"]

    names = ("window_start_ns", "window_end_ns", "time", "idle_gap_count", "longest_idle_gap_ns")
    found = result_of(analyze(paths, AnalyzeOptions()), GpuTime).devices
    truths = [rank.as_recorded or rank for rank in generated.truth.ranks]
    assert [[getattr(device, name) for name in names] for device in found] == [
        [getattr(truth, name) for name in names] for truth in truths
    ]


def test_what_happens_once_is_not_copied_and_the_session_is_as_long_as_all(tmp_path: Path) -> None:
    request = Request(scenario=find_scenario("allocator"), rank_count=2, step_count=2)
    lone, row = (generate(replace(request, recording_count=count)) for count in (1, 4))
    [once, _] = write(lone, tmp_path / "once")
    [often, _] = write(row, tmp_path / "often")

    def ask(path: Path, question: str) -> int:
        with closing(sqlite3.connect(path)) as connection:
            [(answer,)] = connection.execute(question)
        return int(answer)

    grows = "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"
    stays = ("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 75", "SELECT count(*) FROM TARGET_INFO_GPU")
    duration = "SELECT duration FROM ANALYSIS_DETAILS"
    assert ask(often, grows) == 4 * ask(once, grows)
    assert [ask(often, question) for question in stays] == [ask(once, question) for question in stays] == [2, 2]
    assert ask(often, duration) - ask(once, duration) == 3 * row.truth.recording_period_ns
    assert (row.truth.recording_count, row.truth.recording_period_ns) == (4, lone.truth.recording_period_ns)
    assert row.truth.collectives == lone.truth.collectives
    assert row.truth.recoverable == lone.truth.recoverable
    assert [gemm.count for gemm in row.truth.gemms] == [4 * gemm.count for gemm in lone.truth.gemms]


@pytest.mark.parametrize(
    ("spelling", "markers"),
    [
        ("megatron-bridge", ["training_step_0", "training_step_1", "training_step_2", "training_step_3"]),
        ("lightning", ["[pl][profile]run_training_batch"] * 4),
        ("deepspeed", [None] * 4),
    ],
)
def test_markers_count_on_where_they_are_numbered(spelling: str, markers: list[str | None], tmp_path: Path) -> None:
    generated = generate(
        Request(scenario=find_scenario("healthy"), rank_count=1, step_count=2, spelling=spelling, recording_count=2)
    )
    [path, _] = write(generated, tmp_path)

    [rank] = generated.truth.ranks
    assert [step.marker for step in rank.steps] == markers[:-1]
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT text FROM NVTX_EVENTS ORDER BY start").fetchall()
    assert [text for (text,) in found if text in markers] == [text for text in markers if text is not None]
