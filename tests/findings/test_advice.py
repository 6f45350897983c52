"""Advice: it follows from the cause of its finding, or it is not printed."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest
from msgspec.structs import replace

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives
from nsysan.analysis.step_losses import LossReport, StepLosses
from nsysan.findings import registry
from nsysan.findings.advice import ALL_ADVICE, advise, refuse_unfounded
from nsysan.findings.registry import Rule, find_all
from nsysan.model import losses
from nsysan.model.findings import Evidence, Finding
from nsysan.model.idle import Cause
from nsysan.model.losses import Basis
from nsysan.model.purposes import Purpose
from nsysan.model.results import ResultSet
from nsysan.model.verdicts import BottleneckClass, Severity

FINDING_CAUSES = {
    losses.CLOCK_THROTTLE,
    losses.CONTENTION,
    losses.EXPOSED_COLLECTIVE,
    losses.EXPOSED_COPY,
    losses.INEFFICIENT_GEMM,
    losses.MOE_SKEW,
    losses.NON_GEMM,
    losses.PIPELINE_BUBBLE,
    losses.RECOMPUTATION,
    losses.SAME_STREAM,
    losses.SLOW_COMPUTE,
    losses.SLOW_LINK,
}
COLLECTION = Finding(
    id="garbage_collection",
    bottleneck_class=BottleneckClass.SCHEDULING,
    cause=Cause.GARBAGE_COLLECTION.value,
    severity=Severity.WARNING,
    title="The GPU waits for garbage collection",
    recoverable_ns=5,
    evidence=(Evidence("5 ns.", "step_losses"),),
    advice=advise(Cause.GARBAGE_COLLECTION.value, BottleneckClass.SCHEDULING, ResultSet({})),
)
NOTHING = ResultSet({})


def test_every_piece_of_advice_names_causes_that_findings_have() -> None:
    known = FINDING_CAUSES | {cause.value for cause in Cause}

    assert len({one.id for one in ALL_ADVICE}) == len(ALL_ADVICE)
    for one in ALL_ADVICE:
        assert one.causes
        assert one.causes <= known


def test_every_cause_of_lost_time_that_can_be_cured_has_advice() -> None:
    incurable = {Cause.HANDOVER, Cause.LAUNCH_LATENCY, Cause.PROFILER_OVERHEAD, Cause.UNKNOWN}
    advised = set().union(*(one.causes for one in ALL_ADVICE))

    assert FINDING_CAUSES | {cause.value for cause in Cause if cause not in incurable} <= advised


def test_advice_that_does_not_follow_from_the_cause_is_refused() -> None:
    # C92: TF32 against garbage collection
    other = next(one.spoken for one in ALL_ADVICE if "garbage_collection" not in one.causes)

    assert refuse_unfounded(COLLECTION) is COLLECTION
    for sentence in (other, "Enable TF32."):
        with pytest.raises(ValueError, match="does not follow from garbage_collection"):
            refuse_unfounded(msgspec.structs.replace(COLLECTION, advice=(sentence,)))


def test_no_rule_can_print_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(_results: ResultSet) -> Iterable[Finding]:
        yield msgspec.structs.replace(COLLECTION, advice=("Enable TF32.",))

    monkeypatch.setattr(registry, "rules", lambda: (Rule("garbage_collection", find),))

    with pytest.raises(ValueError, match="does not follow"):
        find_all(NOTHING)


def test_copies_of_batches_and_others_have_advice_of_their_own() -> None:
    batch, other = (advise(losses.EXPOSED_COPY, one, NOTHING) for one in (BottleneckClass.DATA, BottleneckClass.MEMORY))

    assert "the batch's memory" in " ".join(batch)
    assert set(batch).isdisjoint(other)


def gaps(short_frac: float) -> ResultSet:
    report = LossReport(Basis.STEPS, 1, 1, 100, 50, 0, 0, short_frac, tells_data_waits=True, causes=(), classes=())
    return ResultSet({"step_losses": StepLosses(report)})


@pytest.mark.parametrize(("short_frac", "advised"), [(0.6, True), (0.5, False), (0.01, False)])
def test_cuda_graphs_are_advised_only_where_launches_starve_the_gpu(short_frac: float, advised: bool) -> None:  # noqa: FBT001
    # C91: long gaps are a host busy with something else, which graphs do not cure
    told = " ".join(advise(Cause.LAUNCH_STARVED.value, BottleneckClass.SCHEDULING, gaps(short_frac)))

    assert ("CUDA graphs" in told) is advised
    assert ("longest gaps" in told) is not advised
    assert all("CUDA graphs" not in one.sentence or one.causes == {"launch_starved"} for one in ALL_ADVICE)


def all_to_all(rank_count: int, nodes: int) -> ResultSet:
    row = CollectiveRow(
        kind="all_to_all",
        backend="nccl",
        communicator=None,
        purpose=Purpose.EXPERT_PARALLEL,
        ranks=tuple(range(rank_count)),
        nodes=nodes,
        dtype=None,
        stage=None,
        count=1,
        complete_count=1,
        bytes=None,
        duration_ns=9,
        exposed_ns=9,
        transfer_ns=9,
        wait_ns=0,
        wait_by_rank_ns=None,
        algbw_bytes_per_s=None,
        busbw_bytes_per_s=None,
        contended_frac=None,
        ceiling_bytes_per_s=None,
        ceiling_source=None,
        unresolved=None,
    )
    return ResultSet({"collectives": Collectives((row,), 0, (), None)})


def result_rows(results: ResultSet) -> tuple[CollectiveRow, ...]:
    found = results.get(Collectives)
    assert isinstance(found, Collectives)
    return found.collectives


@pytest.mark.parametrize(
    ("purpose", "other_ns", "advised"),
    [
        (None, 0, True),
        (Purpose.DATA_PARALLEL, 0, True),
        (Purpose.TENSOR_PARALLEL, 0, False),
        # 9 ns of 109 that are not hidden
        (Purpose.DATA_PARALLEL, 100, False),
    ],
)
def test_advice_about_gradients_needs_reductions_that_may_be_theirs(
    purpose: Purpose | None,
    other_ns: int,
    advised: bool,  # noqa: FBT001
) -> None:
    [other] = result_rows(all_to_all(2, 1))
    rows = (
        replace(other, kind="all_reduce", purpose=purpose),
        replace(other, exposed_ns=other_ns),
    )
    results = ResultSet({"collectives": Collectives(rows, 0, (), None)})

    told = " ".join(advise(losses.EXPOSED_COLLECTIVE, BottleneckClass.COMMUNICATION, results))

    assert ("gradients" in told) is advised


@pytest.mark.parametrize(("rank_count", "nodes", "advised"), [(4, 1, False), (8, 1, False), (16, 2, True)])
def test_a_library_for_experts_is_advised_only_over_nodes(rank_count: int, nodes: int, advised: bool) -> None:  # noqa: FBT001
    # C90: at EP 4 on one node DeepEP was the wrong advice
    told = advise(losses.EXPOSED_COLLECTIVE, BottleneckClass.COMMUNICATION, all_to_all(rank_count, nodes))

    assert any("DeepEP" in sentence for sentence in told) is advised
