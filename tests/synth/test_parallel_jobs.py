"""Jobs that share their work in other ways: what published formulas and arithmetic say of them."""

from __future__ import annotations

import statistics
from collections import Counter
from itertools import accumulate

import pytest
from msgspec.structs import replace

from nsysan.model.errors import UsageError
from nsysan.model.kernels import Collective
from nsysan.model.partition import Activity
from nsysan.model.purposes import Purpose
from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import find_scenario
from nsysan.synth.simulation.engine import simulate
from nsysan.synth.simulation.timelines import RankTimeline, Simulation
from nsysan.synth.training import kernels
from nsysan.synth.training.job import Job
from nsysan.synth.training.knobs import Knobs
from nsysan.synth.training.parallelism.branches import BRANCH_STREAM
from nsysan.synth.training.parallelism.pipeline import PIPELINE_PARALLEL
from nsysan.synth.truth.collective_truth import collective_truths
from nsysan.synth.truth.job_truth import CollectiveTruth, Truth
from nsysan.synth.truth.step import mean_step_ns

ACTIVATION_BYTES = 2 * 16_384 * 4_096
LAYER_PARAMETERS = 19 * 4_096**2 // 2
BUS_BYTES_PER_NS = 450


def truth_of(scenario: str, rank_count: int = 4) -> Truth:
    return generate(Request(scenario=find_scenario(scenario), rank_count=rank_count, step_count=3)).truth


def simulated(scenario: str, rank_count: int, **knobs: object) -> Simulation:
    found = find_scenario(scenario)
    turned = replace(found.knobs, **knobs)
    job = Job(knobs=turned, rank_count=rank_count, step_count=3, seed=0, parallelism=found.parallelism)
    return simulate(job.programs())


def of(truth: Truth, purpose: Purpose, kind: Collective) -> list[CollectiveTruth]:
    return [run for run in truth.collectives if (run.purpose, run.kind) == (purpose, kind)]


@pytest.mark.parametrize("scenario", ["moe_skew", "pipeline_bubble", "rooted_collectives", "tensor_parallel"])
def test_all_ranks_of_a_communicator_run_its_collectives_in_the_order_of_their_sequence(scenario: str) -> None:
    simulation = simulated(scenario, 8)
    truths = collective_truths(simulation)

    numbers: dict[tuple[str, tuple[int, ...]], dict[str, int]] = {}
    for truth in truths:
        numbers.setdefault((truth.communicator, truth.ranks), {})[truth.id] = truth.sequence
    for (communicator, ranks), sequence_by_id in numbers.items():
        for rank in ranks:
            met = [work.task.rendezvous for work in simulation.ranks[rank].works if work.task.rendezvous is not None]
            own = [run.key for run in met if (run.communicator.id, run.ranks) == (communicator, ranks)]
            assert [sequence_by_id[key] for key in own] == list(range(len(own)))


class TestPipeline:
    @pytest.mark.parametrize(("stage_count", "part_count"), [(2, 4), (3, 4), (3, 8), (4, 4), (4, 16)])
    def test_the_bubble_is_that_of_published_1f1b(self, stage_count: int, part_count: int) -> None:
        # (p - 1) / m of the time in which a stage computes; only passing on takes no time here
        knobs = Knobs(microbatch_count=part_count, bus_bytes_per_s=None, layer_count=2)
        job = Job(knobs=knobs, rank_count=stage_count, step_count=3, seed=0, parallelism=PIPELINE_PARALLEL)

        waiting, alone = (
            simulate(replace(job, knobs=replace(knobs, stages_wait=waits)).programs()) for waits in (True, False)
        )

        bubble_ns = mean_step_ns(waiting) - mean_step_ns(alone)
        ideal_ns = statistics.mean(_pass_ns(timeline) for timeline in alone.ranks) / 3
        assert bubble_ns / ideal_ns == pytest.approx((stage_count - 1) / part_count, rel=0.02)

    def test_a_stage_holds_as_many_parts_as_there_are_stages_from_it_on(self) -> None:
        for timeline, expected in zip(simulated("pipeline_bubble", 4).ranks, (4, 3, 2, 1), strict=True):
            texts = [found.text for found in sorted(timeline.ranges, key=lambda found: found.start_ns)]
            held = list(accumulate({"forward": 1, "backward": -1}.get(text or "", 0) for text in texts))

            assert (max(held), held[-1]) == (expected, 0)
            assert Counter(texts)["forward"] == Counter(texts)["backward"] == 3 * 4

    def test_what_passes_a_boundary(self) -> None:
        truth = truth_of("pipeline_bubble", 2)
        size_bytes = ACTIVATION_BYTES // 4

        # warm-up 1 forward, then 3 times both ways, then the last gradient
        forward, both = ((size_bytes, 0), (0, size_bytes)), ((size_bytes,) * 2,) * 2
        backward = forward[::-1]
        told = [(run.sent_by_rank_bytes, run.received_by_rank_bytes) for run in truth.collectives]
        assert told == 3 * [forward, both, both, both, backward]
        assert [run.sequence for run in truth.collectives] == list(range(15))
        assert {run.transfer_ns for run in truth.collectives} == {round(size_bytes / BUS_BYTES_PER_NS)}
        assert {(run.kind, run.purpose, run.size_bytes, run.root) for run in truth.collectives} == {
            (Collective.SEND_RECV, Purpose.PIPELINE_PARALLEL, size_bytes, None)
        }

    def test_replicas_of_a_stage_reduce_its_gradients_once_a_step(self) -> None:
        truth = truth_of("pipeline_bubble", 8)

        reductions = of(truth, Purpose.DATA_PARALLEL, Collective.ALL_REDUCE)
        assert Counter(run.ranks for run in reductions) == dict.fromkeys([(0, 1), (2, 3), (4, 5), (6, 7)], 3 * 4)
        boundaries = {run.ranks for run in of(truth, Purpose.PIPELINE_PARALLEL, Collective.SEND_RECV)}
        assert boundaries == {(rank, rank + 2) for rank in range(6)}


class TestTensorParallel:
    def test_ranks_meet_in_two_kinds_of_communicators(self) -> None:
        truth = truth_of("tensor_parallel")

        # 3 steps of 4 layers: 4 sums of activations, 1 reduce-scatter, 1 all-gather
        assert Counter((run.purpose, run.kind, run.ranks) for run in truth.collectives) == {
            (Purpose.TENSOR_PARALLEL, Collective.ALL_REDUCE, (0, 1)): 48,
            (Purpose.TENSOR_PARALLEL, Collective.ALL_REDUCE, (2, 3)): 48,
            (Purpose.DATA_PARALLEL, Collective.REDUCE_SCATTER, (0, 2)): 12,
            (Purpose.DATA_PARALLEL, Collective.REDUCE_SCATTER, (1, 3)): 12,
            (Purpose.DATA_PARALLEL, Collective.ALL_GATHER, (0, 2)): 12,
            (Purpose.DATA_PARALLEL, Collective.ALL_GATHER, (1, 3)): 12,
        }
        assert len({run.communicator for run in truth.collectives}) == 4

    def test_sizes_and_transfers_are_those_of_nccl_tests(self) -> None:
        truth = truth_of("tensor_parallel")

        # 2 ranks: factor 1 for the all-reduce, 1/2 for the other two; half the weights, 2 bytes each; 150 GB/s
        half_bytes = 2 * LAYER_PARAMETERS // 2
        expected = {
            Collective.ALL_REDUCE: (ACTIVATION_BYTES, round(ACTIVATION_BYTES / 150)),
            Collective.REDUCE_SCATTER: (half_bytes, round(half_bytes / 2 / 150)),
            Collective.ALL_GATHER: (half_bytes, round(half_bytes / 2 / 150)),
        }
        assert {run.kind: (run.size_bytes, run.transfer_ns) for run in truth.collectives} == expected

    def test_sums_are_exposed_and_gradients_are_not(self) -> None:
        truth = truth_of("tensor_parallel")

        # each of 4 x 4 sums is exposed whole, with its wait; what else is exposed is the last gather
        for rank in truth.ranks:
            sums = [run for run in of(truth, Purpose.TENSOR_PARALLEL, Collective.ALL_REDUCE) if rank.rank in run.ranks]
            lasted_ns = sum(run.end_by_rank_ns[0] - run.start_by_rank_ns[run.ranks.index(rank.rank)] for run in sums)
            assert lasted_ns <= rank.time.exposed_communication_ns < 1.1 * lasted_ns
            assert rank.time.overlapped_ns > 0

    def test_each_rank_computes_its_part_of_a_layer(self) -> None:
        shapes = {(gemm.m, gemm.n, gemm.k) for gemm in truth_of("tensor_parallel").gemms}

        # query-key-value, output, up and down, halved where the halves are independent
        halved = {(16_384, 3_072, 4_096), (16_384, 4_096, 2_048), (16_384, 7_168, 4_096), (16_384, 4_096, 7_168)}
        assert halved <= shapes

    def test_a_prime_number_of_ranks_above_a_node_is_refused(self) -> None:
        with pytest.raises(UsageError, match="11 ranks cannot share layers in equal groups"):
            truth_of("tensor_parallel", 11)


class TestExperts:
    def test_the_hot_rank_gets_its_share_too_many(self) -> None:
        truth = truth_of("moe_skew")
        dispatched = next(run for run in truth.collectives if run.id == "step 0 layer 0 dispatch")
        combined = next(run for run in truth.collectives if run.id == "step 0 layer 0 combine")

        # 2 experts a token of 8192 x 2 bytes: 1.5 quarters of 32,768 go to rank 1, a third of the rest elsewhere
        hot, cold = 12_288, (32_768 - 12_288) // 3
        received = tuple(4 * count * 16_384 for count in (cold, hot, cold, cold))
        sent = (16_384 * (hot + 3 * cold),) * 4
        assert (dispatched.sent_by_rank_bytes, dispatched.received_by_rank_bytes) == (sent, received)
        assert (combined.sent_by_rank_bytes, combined.received_by_rank_bytes) == (received, sent)
        # the slowest way is into the hot rank, from the three others
        assert dispatched.transfer_ns == round(3 * hot * 16_384 / (2 * BUS_BYTES_PER_NS))
        assert (truth.slow_rank, truth.cause) == (1, "moe_skew")

    def test_the_others_wait_for_its_expert(self) -> None:
        truth = truth_of("moe_skew")

        # 4 x 5462 tokens more than the others, each 2 x 2 x 8192 x 28672 FLOP at 99 % of 700 TFLOP/s
        tokens = 4 * (12_288 - (32_768 - 12_288) // 3)
        gemm_ns = tokens * 2 * 2 * 8_192 * 28_672 / 700e12 / 0.99 * 1e9
        # and the activation in between: 3.5 + 3.5 widths of 2 bytes, the norm's 4
        gelu_and_norm_ns = tokens * 8_192 * 2 * (7 + 2) / 2.8e12 * 1e9
        for run in truth.collectives:
            if run.id.endswith("combine"):
                assert run.wait_by_rank_ns[1] == 0
                for rank in (0, 2, 3):
                    assert run.wait_by_rank_ns[rank] == pytest.approx(gemm_ns + gelu_and_norm_ns, rel=0.03)

    def test_balanced_experts_wait_for_nobody(self) -> None:
        simulation = simulated("moe_skew", 4, hot_expert_load=1.0)

        lateness = [
            max(run.start_ns_by_rank.values()) - min(run.start_ns_by_rank.values())
            for run in simulation.collectives
            if run.rendezvous.collective is Collective.ALL_TO_ALL
        ]
        assert max(lateness) < 0.02 * mean_step_ns(simulation)

    def test_only_one_group_has_the_hot_expert(self) -> None:
        truth = truth_of("moe_skew", 16)

        groups = {run.ranks: run.received_by_rank_bytes for run in truth.collectives if run.id.endswith("0 dispatch")}
        even = 8 * 4_096 * 16_384
        assert groups[tuple(range(8, 16))] == (even,) * 8
        assert groups[tuple(range(8))] != (even,) * 8


class TestRooted:
    def test_each_kind_is_there_once_a_step(self) -> None:
        kinds = Counter(run.kind for run in truth_of("rooted_collectives").collectives if run.root == 0)

        assert kinds == dict.fromkeys(
            (Collective.BROADCAST, Collective.SCATTER, Collective.REDUCE, Collective.GATHER), 3
        )

    def test_the_others_wait_for_the_root_to_load(self) -> None:
        for run in truth_of("rooted_collectives").collectives:
            starts_ns, ends_ns = run.start_by_rank_ns, run.end_by_rank_ns
            if run.kind is Collective.SCATTER:
                assert run.wait_by_rank_ns == tuple(max(0, starts_ns[0] - start_ns) for start_ns in starts_ns)
                assert run.id != "step 0 batch" or min(run.wait_by_rank_ns[1:]) > 190_000
            if run.kind is Collective.REDUCE:
                assert run.wait_by_rank_ns == (max(starts_ns) - starts_ns[0], 0, 0, 0)
                assert [end - start for start, end in zip(starts_ns, ends_ns, strict=True)][1:] == [run.transfer_ns] * 3

    def test_bytes_over_the_bus(self) -> None:
        # nccl-tests: factor 1 for broadcast and reduce, 3/4 of all for scatter and gather of 4 ranks
        expected = {
            Collective.BROADCAST: (64_000_000, 64_000_000),
            Collective.REDUCE: (16_000_000, 16_000_000),
            Collective.SCATTER: (4 * 16 * 16_384, 3 * 16 * 16_384),
            Collective.GATHER: (4 * 2_000_000, 3 * 2_000_000),
        }
        assert {
            run.kind: (run.size_bytes, run.transfer_ns)
            for run in truth_of("rooted_collectives").collectives
            if run.root is not None
        } == {kind: (whole, round(moved / BUS_BYTES_PER_NS)) for kind, (whole, moved) in expected.items()}


class TestBranches:
    def test_two_streams_compute_at_once(self) -> None:
        for timeline in simulated("parallel_branches", 1).ranks:
            works = [work for work in timeline.works if work.task.activity is Activity.COMPUTE]
            busy_ns = {
                stream_id: sum(work.end_ns - work.start_ns for work in works if work.stream_id == stream_id)
                for stream_id in (7, BRANCH_STREAM)
            }
            window_ns = max(work.end_ns for work in works) - min(work.start_ns for work in works)
            assert min(busy_ns.values()) > 0.3 * window_ns
            assert sum(busy_ns.values()) > 1.2 * window_ns

    def test_both_compute_what_one_would(self) -> None:
        def counted(simulation: Simulation) -> Counter[str]:
            return Counter(work.task.name for timeline in simulation.ranks for work in timeline.works)

        one, both = counted(simulated("healthy", 2)), counted(simulated("parallel_branches", 2))

        # one sum instead of two forward, one norm's gradient instead of two: 3 steps of 4 layers on 2 ranks
        assert one - both == {kernels.ADD: 24, kernels.LAYER_NORM_BACKWARD: 24}
        assert both - one == {}


def _pass_ns(timeline: RankTimeline) -> int:
    """How long the rank's forward and backward kernels take, all steps together."""
    aside = {kernels.ADAM, kernels.NORM, ""}
    computed = [work for work in timeline.works if work.task.rendezvous is None and work.task.name not in aside]
    return sum(work.end_ns - work.start_ns for work in computed)
