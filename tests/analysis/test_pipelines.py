"""Pipelines: the bubble of a 1F1B schedule worked out by hand, stages held apart, and what is no pipeline."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from nsysan.analysis.lateness_causes import WhyLate
from nsysan.analysis.pipelines import PipelineRow, Pipelines
from nsysan.analysis.stragglers import Stragglers
from nsysan.model.lateness import Lateness
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.export import Export
from nsysan.synth.generate import generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import Request
from nsysan.synth.scenario import all_scenarios
from nsysan.synth.simulation.payload import Payload, PayloadSchema
from tests.analysis.nccl_traces import ALL_REDUCE, COMMUNICATOR, MS, SEND_RECV, job, launched
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORLD = 7
Task = tuple[str, int, str]
"""Compute for so many ms; or messages over the boundary after a stage, ``f`` forward, ``b`` backward; or a barrier."""


def one_f_one_b(stage: int, stage_count: int, part_count: int, forward_ms: int, backward_ms: int) -> Iterator[Task]:
    ahead = min(stage_count - 1 - stage, part_count)
    for _ in range(ahead):
        yield from (("pass", stage - 1, "f"), ("compute", forward_ms, ""), ("pass", stage, "f"))
    if ahead < part_count:
        yield ("pass", stage - 1, "f")
    for part in range(part_count - ahead):
        yield from (("compute", forward_ms, ""), ("pass", stage, "fb"), ("compute", backward_ms, ""))
        yield ("pass", stage - 1, "fb" if part + ahead + 1 < part_count else "b")
    for _ in range(ahead):
        yield from (("pass", stage, "b"), ("compute", backward_ms, ""), ("pass", stage - 1, "b"))
    yield ("barrier", 0, "")


def pipeline(stage_count: int, part_count: int, step_count: int) -> Export:
    """Stages that each compute 10 ms forward and 20 ms backward a part, and messages that take no time at all."""
    pids = range(100, 100 + stage_count)
    export, now_ms, spans = job(*pids), dict.fromkeys(pids, 1), defaultdict[int, list[tuple[Task, int, int]]](list)
    for step in range(step_count):
        for pid in pids:
            export.nvtx((step + 1) * 500_000, (step + 2) * 500_000 - 1, f"step {step}", pid=pid)
        waiting = {pid: list(one_f_one_b(pid - 100, stage_count, part_count, 10, 20)) for pid in pids}
        while any(waiting.values()):
            for pid in pids:
                _advance(pid, waiting, now_ms, spans, stage_count)
        for pid in pids:
            for place, (task, start_ms, end_ms) in enumerate(spans.pop(pid)):
                _record(export, pid, (step + 1) * 500_000 + 100 * place, task, (start_ms * MS, end_ms * MS))
    return export


def _advance(
    pid: int,
    waiting: dict[int, list[Task]],
    now_ms: dict[int, int],
    spans: dict[int, list[tuple[Task, int, int]]],
    stage_count: int,
) -> None:
    """Runs the next task of a stage, and with it that of whoever it meets, if they are there."""
    if not waiting[pid]:
        return
    task, stage = waiting[pid][0], pid - 100
    if task[0] == "pass" and not 0 <= task[1] < stage_count - 1:
        waiting[pid].pop(0)
        return
    together = {"compute": [pid], "barrier": list(waiting), "pass": [100 + task[1], 101 + task[1]]}[task[0]]
    if any(waiting[other][:1] != [task] for other in together):
        assert stage >= 0
        return
    end_ms = max(now_ms[other] for other in together) + (task[1] if task[0] == "compute" else 0)
    for other in together:
        spans[other].append((task, now_ms[other], end_ms))
        now_ms[other] = end_ms
        waiting[other].pop(0)


def _record(export: Export, pid: int, call_ns: int, task: Task, span_ns: tuple[int, int]) -> None:
    if task[0] == "compute":
        export.call(call_ns, call_ns + 5, "cudaLaunchKernel_v7000", pid=pid, correlation=1 + call_ns)
        export.kernel(*span_ns, "sgemm", pid=pid, correlation=1 + call_ns)
    elif task[0] == "barrier":
        payload = Payload(PayloadSchema.ALL_REDUCE, (WORLD, 8, 0))
        launched(export, pid, call_ns, span_ns, ALL_REDUCE, {"ncclAllReduce": payload})
    else:
        is_upper = pid - 100 == task[1]
        peer = task[1] + 1 if is_upper else task[1]
        calls = {
            "ncclSend" if (way == "f") is is_upper else "ncclRecv": Payload(
                PayloadSchema.SEND if (way == "f") is is_upper else PayloadSchema.RECV, (COMMUNICATOR, 4096, peer)
            )
            for way in task[2]
        }
        launched(export, pid, call_ns, span_ns, SEND_RECV, calls)


def test_the_bubble_of_a_1f1b_schedule(tmp_path: Path) -> None:
    # C39: 4 stages and 8 parts of 30 ms: 11 * 30 = 330 ms a step, of which each stage computes 240
    found = result_of(analyze_exports(tmp_path, pipeline(4, 8, 6)), Pipelines).pipelines

    [row] = found
    assert row.step_count is not None
    assert row == PipelineRow(
        ranks=(0, 1, 2, 3),
        step_count=row.step_count,
        part_count=8,
        bubble_by_rank_ns=(row.step_count * 90 * MS,) * 4,
        bubble_frac=90 / 330,
        ideal_frac=3 / 11,
    )
    assert row.step_count >= 3


def test_without_steps_the_window_is_looked_at(tmp_path: Path) -> None:
    export = pipeline(4, 8, 1)

    [row] = result_of(analyze_exports(tmp_path, export), Pipelines).pipelines

    assert (row.step_count, row.part_count, row.ideal_frac) == (None, None, None)
    assert row.bubble_by_rank_ns == (90 * MS,) * 4
    assert row.bubble_frac == pytest.approx(90 / 330)


@pytest.mark.parametrize(("rank_count", "pipelines"), [(4, [(0, 1, 2, 3)]), (8, [(0, 2, 4, 6), (1, 3, 5, 7)])])
def test_simulated_pipelines_wait_as_long_as_the_simulation_says(
    tmp_path: Path, rank_count: int, pipelines: list[tuple[int, ...]]
) -> None:
    [scenario] = [found for found in all_scenarios() if found.name == "pipeline_bubble"]
    request = Request(scenario=scenario, rank_count=rank_count, step_count=4, includes_blobs=True)
    generated = generate(request)
    run = analyze([export.write(tmp_path / name) for name, export in generated.exports.items()], AnalyzeOptions())

    rows = {row.ranks: row for row in result_of(run, Pipelines).pipelines}

    assert sorted(rows) == pipelines
    steps = {rank.rank: rank.steps for rank in generated.truth.ranks}
    for row in rows.values():
        assert (row.part_count, row.ideal_frac) == (4, 3 / 7)
        for rank, bubble_ns in zip(row.ranks, row.bubble_by_rank_ns, strict=True):
            waited = [
                (truth.start_by_rank_ns[truth.ranks.index(rank)], truth.wait_by_rank_ns[truth.ranks.index(rank)])
                for truth in generated.truth.collectives
                if rank in truth.ranks and truth.kind.value == "send_recv"
            ]
            inside = sum(
                max(min(start + wait, step.end_ns) - max(start, step.start_ns), 0)
                for start, wait in waited
                for step in steps[rank]
            )
            # what computing hides of a wait is no bubble
            assert bubble_ns == pytest.approx(inside, rel=0.02)


def test_two_ranks_that_always_answer_each_other_are_no_pipeline(tmp_path: Path) -> None:
    export = job(100, 101)
    for place in range(4):
        for rank, pid in enumerate((100, 101)):
            calls = {
                name: Payload(schema, (COMMUNICATOR, 4096, 1 - rank))
                for name, schema in (("ncclSend", PayloadSchema.SEND), ("ncclRecv", PayloadSchema.RECV))
            }
            launched(export, pid, MS + 100 * place, ((10 + 9 * place) * MS, (12 + 9 * place) * MS), SEND_RECV, calls)

    assert result_of(analyze_exports(tmp_path, export), Pipelines).pipelines == ()


@pytest.mark.parametrize("answered", [True, False])
def test_of_two_ranks_that_are_all_each_sends_to_the_other(tmp_path: Path, answered: bool) -> None:  # noqa: FBT001
    # calls without a payload: 3 messages, answered in the same kernel or not
    export = job(100, 101, communicator=None)
    for place in range(3):
        for rank, pid in enumerate((100, 101)):
            calls = ("ncclSend", "ncclRecv") if answered else ("ncclSend", "ncclRecv")[rank : rank + 1]
            span_ns = ((10 + 9 * place) * MS, (12 + 9 * place) * MS)
            launched(export, pid, MS + 100 * place, span_ns, SEND_RECV, dict.fromkeys(calls))

    rows = result_of(analyze_exports(tmp_path, export), Pipelines).pipelines

    assert [row.ranks for row in rows] == ([] if answered else [(0, 1)])


@pytest.mark.parametrize("layout", [Layout.ONE, Layout.PER_RANK])
def test_names_alone_show_no_pipeline_of_more(tmp_path: Path, layout: Layout) -> None:
    [scenario] = [found for found in all_scenarios() if found.name == "pipeline_bubble"]
    generated = generate(Request(scenario=scenario, rank_count=4, step_count=2, layout=layout))
    run = analyze([export.write(tmp_path / name) for name, export in generated.exports.items()], AnalyzeOptions())

    assert result_of(run, Pipelines).pipelines == ()


def test_a_stage_with_more_work_than_another_is_not_to_blame(tmp_path: Path) -> None:
    # C74: two pipelines of two stages; the second stage computes 60 of 70 ms, the first 30, and all meet at the end
    export = job(100, 101, 102, 103)
    for pid in (100, 101):
        _stage(export, pid, 30, peer=pid - 98, schema=PayloadSchema.SEND, name="ncclSend", at_ms=31)
    for pid in (102, 103):
        _stage(export, pid, 60, peer=pid - 102, schema=PayloadSchema.RECV, name="ncclRecv", at_ms=1)
    for pid in range(100, 104):
        payload = Payload(PayloadSchema.ALL_REDUCE, (WORLD, 8, 0))
        start_ms = 35 if pid < 102 else 92
        launched(export, pid, 500, (start_ms * MS, 95 * MS), ALL_REDUCE, {"ncclAllReduce": payload})

    found = result_of(analyze_exports(tmp_path, export), Stragglers).stragglers

    # ranks 2 and 3 come 57 ms after the first stage, and each has as much to do as the other
    assert [(one.rank, one.late_ns, one.caused_ns, one.why) for one in found] == [
        (rank, 57.0 * MS, 57 * MS, WhyLate(Lateness.PIPELINE_POSITION, 57.0 * MS, None)) for rank in (2, 3)
    ]


def _stage(  # noqa: PLR0913, PLR0917 -- one parameter a property of the stage
    export: Export, pid: int, compute_ms: int, peer: int, schema: PayloadSchema, name: str, at_ms: int
) -> None:
    begin_ms = 1 if name == "ncclSend" else 32
    export.kernel(begin_ms * MS, (begin_ms + compute_ms) * MS, "sgemm", pid=pid)
    launched(export, pid, 100, (at_ms * MS, 32 * MS), SEND_RECV, {name: Payload(schema, (COMMUNICATOR, 4096, peer))})
