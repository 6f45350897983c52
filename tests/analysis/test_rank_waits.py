"""Who waited for whom: of hand-written instances, of broadcasts, and of any that hypothesis thinks of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.rank_waits import SHOWN_PAIRS, AwaitedRank, RankWait, RankWaits
from nsysan.analysis.step_waits import StepWaits
from nsysan.analysis.steps import Steps
from nsysan.attribution.collectives.charging import charged_waits
from nsysan.attribution.collectives.kinds import Meeting
from nsysan.attribution.collectives.measured import Measured
from nsysan.attribution.collectives.series import Series
from nsysan.attribution.collectives.waiting import waits_of
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.export import Export
from nsysan.synth.generate import generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import Request
from nsysan.synth.scenario import all_scenarios
from tests.analysis.nccl_traces import ALL_REDUCE, MS
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.arrays import Int64Array
    from nsysan.model.run import Run


def test_each_wait_is_charged_to_the_last(tmp_path: Path) -> None:
    # first ranks 0 and 1 wait 30 ms for rank 2, then 0 and 2 wait 8 and 3 ms for rank 1
    export = Export()
    for starts_ms, end_ms in (((0, 0, 30), 33), ((40, 48, 45), 50)):
        for rank, start_ms in enumerate(starts_ms):
            export.kernel(start_ms * MS, end_ms * MS, ALL_REDUCE, pid=100 + rank)

    found = result_of(analyze_exports(tmp_path, export), RankWaits)

    assert found == RankWaits(
        (
            RankWait(0, 2, 30 * MS),
            RankWait(1, 2, 30 * MS),
            RankWait(0, 1, 8 * MS),
            RankWait(2, 1, 3 * MS),
        ),
        rank_waits_omitted_ns=0,
        awaited_ranks=(AwaitedRank(2, 2, 60 * MS), AwaitedRank(1, 2, 11 * MS)),
    )


def test_between_the_worst_of_many_ranks_every_pair_is_told(tmp_path: Path) -> None:
    # of 40 ranks rank r comes last in turn r, after 10 + r ms: each is waited for by 39
    export = Export()
    for turn in range(40):
        begin_ms = 100 * turn
        for rank in range(40):
            start_ms = begin_ms + (10 + turn if rank == turn else 0)
            export.kernel(start_ms * MS, (begin_ms + 60) * MS, ALL_REDUCE, pid=100 + rank)

    found = result_of(analyze_exports(tmp_path, export), RankWaits)

    assert [one.rank for one in found.awaited_ranks] == list(range(39, 27, -1))
    assert found.awaited_ranks[0] == AwaitedRank(39, 39, 39 * 49 * MS)
    assert len(found.rank_waits) == SHOWN_PAIRS
    total_ms = sum(39 * (10 + turn) for turn in range(40))
    assert found.rank_waits_omitted_ns + sum(pair.wait_ns for pair in found.rank_waits) == total_ms * MS
    mapped = {pair.awaited_rank for pair in found.rank_waits}
    assert set(range(28, 40)) <= mapped


def _measured(meeting: Meeting, starts: list[list[int]], ends: list[list[int]], root: int) -> Measured:
    start_ns, end_ns = np.array(starts), np.array(ends)
    table = np.arange(start_ns.size).reshape(start_ns.shape)
    series = Series(0, 0, meeting, tuple(range(start_ns.shape[1])), table, is_whole=True)
    roots = np.full(len(starts), root)
    return Measured(series, table, waits_of(meeting, start_ns, end_ns, roots))


@pytest.mark.parametrize(
    ("meeting", "expected"),
    [
        # rank 1 hands out: rank 0 waits 40 for it, rank 2, which comes later, not at all
        (Meeting.FROM_ROOT, {(0, 1): 40}),
        # rank 1 collects, and waits 20 for rank 2, which is last
        (Meeting.TO_ROOT, {(1, 2): 20}),
    ],
)
def test_of_a_root_it_or_the_last_is_awaited(meeting: Meeting, expected: dict[tuple[int, int], int]) -> None:
    one = _measured(meeting, [[0, 40, 60]], [[90, 90, 90]], root=1)

    assert _pairs(charged_waits([one], 3)) == expected


def _pairs(waits_ns: Int64Array) -> dict[tuple[int, int], int]:
    """What is no nothing, by who waited and for whom."""
    places = zip(*np.nonzero(waits_ns), strict=True)
    return {(int(rank), int(awaited)): int(waits_ns[rank, awaited]) for rank, awaited in places}


INSTANCES = st.integers(2, 4).flatmap(
    lambda rank_count: st.lists(
        st.lists(st.integers(0, 200), min_size=rank_count, max_size=rank_count), min_size=1, max_size=5
    )
)


@settings(max_examples=60)
@given(INSTANCES)
def test_charges_are_those_of_a_plain_count(starts_us: list[list[int]]) -> None:
    """Of each instance whoever waits at most 20 us longer than the least shares what the others wait."""
    starts = [[start * 1_000 for start in row] for row in starts_us]
    expected: dict[tuple[int, int], int] = {}
    for row in starts:
        waits = [max(row) - start for start in row]
        last = [rank for rank, wait in enumerate(waits) if wait <= 20_000]
        for rank, wait in enumerate(waits):
            for other in last:
                if rank not in last and wait // len(last):
                    expected[rank, other] = expected.get((rank, other), 0) + wait // len(last)

    one = _measured(Meeting.SYMMETRIC, starts, [[300_000] * len(row) for row in starts], 0)
    assert _pairs(charged_waits([one], len(starts[0]))) == expected


def _simulated(folder: Path, scenario: str) -> Run:
    [found] = [one for one in all_scenarios() if one.name == scenario]
    generated = generate(Request(scenario=found, rank_count=4, step_count=4, includes_blobs=True))
    return analyze([export.write(folder / name) for name, export in generated.exports.items()], AnalyzeOptions())


@pytest.mark.parametrize("scenario", ["straggler_loader", "moe_skew"])
def test_waiting_and_transfer_of_the_mean_step_add_up_to_its_exposed_communication(
    tmp_path: Path, scenario: str
) -> None:
    run = _simulated(tmp_path, scenario)

    whole = {one.id: one.value for one in result_of(run, Steps).figures()}["step_parts.exposed_communication"]
    figures = list(result_of(run, StepWaits).figures())

    assert {one.part_of for one in figures} == {"step_parts.exposed_communication"}
    assert sum(one.value for one in figures) == pytest.approx(whole, abs=1)
    by_key = {one.key: one.value for one in figures}
    # the late rank costs the others far more than the network does
    assert by_key["waiting"] > 5 * by_key["transfer"] > 0
    assert by_key["unresolved"] == 0
    waits = sum(pair.wait_ns for pair in result_of(run, RankWaits).rank_waits)
    assert waits == pytest.approx(sum(row.wait_ns or 0 for row in result_of(run, Collectives).collectives), rel=1e-3)


def test_one_rank_alone_leaves_it_open_what_of_a_step_is_waiting(tmp_path: Path) -> None:
    [found] = [one for one in all_scenarios() if one.name == "straggler_loader"]
    request = Request(scenario=found, rank_count=2, step_count=4, layout=Layout.PER_RANK, omitted_ranks=frozenset({1}))
    generated = generate(request)
    paths = [export.write(tmp_path / name) for name, export in generated.exports.items()]
    run = analyze(paths, AnalyzeOptions())

    [alone] = result_of(run, StepWaits).step_waits

    assert (alone.waiting_ns, alone.transfer_ns) == (0.0, 0.0)
    assert alone.unresolved_ns > 0
    assert list(result_of(run, StepWaits).figures()) == []
