"""Every scenario shows its cause, its truth adds up, and its files hold what was simulated."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.errors import UsageError
from nsysan.model.kernels import Collective
from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.files import write
from nsysan.synth.generate import Generated, generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import Scenario, all_scenarios, find_scenario
from nsysan.synth.simulation.engine import simulate
from nsysan.synth.training import kernels, nccl
from nsysan.synth.training.job import Job
from nsysan.synth.truth.job_truth import RankTruth, Recoverable, Truth, decode_truth, encode_truth

SCENARIOS = all_scenarios()
EACH_SCENARIO = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)


def small(scenario: str, **options: object) -> Generated:
    return generate(Request(scenario=find_scenario(scenario), rank_count=2, step_count=3, **options))  # type: ignore[arg-type]  # the request's own fields


def truth_of(scenario: str) -> Truth:
    return small(scenario).truth


def frac(rank: RankTruth, part_ns: int) -> float:
    return part_ns / rank.time.window_ns


def test_these_scenarios_are_there() -> None:
    assert {scenario.name: scenario.bottleneck_class for scenario in SCENARIOS} == {
        "allocator": BottleneckClass.MEMORY,
        "checkpoint": BottleneckClass.SCHEDULING,
        "communication_bound": BottleneckClass.COMMUNICATION,
        "compute_bound": BottleneckClass.COMPUTE,
        "compute_sound": None,
        "contention": BottleneckClass.COMMUNICATION,
        "data_bound": BottleneckClass.DATA,
        "garbage_collection": BottleneckClass.SCHEDULING,
        "graph_captured": None,
        "healthy": None,
        "launch_bound": BottleneckClass.SCHEDULING,
        "lazy_loading": BottleneckClass.SCHEDULING,
        "memory_bound": BottleneckClass.MEMORY,
        "moe_skew": BottleneckClass.COMPUTE,
        "pageable_copies": BottleneckClass.MEMORY,
        "parallel_branches": None,
        "pipeline_bubble": BottleneckClass.SCHEDULING,
        "recomputation": BottleneckClass.MEMORY,
        "rooted_collectives": None,
        "rotating_ranks": BottleneckClass.SCHEDULING,
        "straggler_compute": BottleneckClass.COMPUTE,
        "straggler_loader": BottleneckClass.DATA,
        "sync_bound": BottleneckClass.SCHEDULING,
        "tensor_parallel": BottleneckClass.COMMUNICATION,
    }


@EACH_SCENARIO
def test_the_truth_adds_up(scenario: Scenario) -> None:
    for rank in truth_of(scenario.name).ranks:
        assert rank.time.window_ns == rank.window_end_ns - rank.window_start_ns
        assert sum(rank.idle_causes.values()) == rank.time.idle_ns
        assert [step.marker for step in rank.steps] == ["step 0", "step 1"]
        assert rank.steps[0].end_ns == rank.steps[1].start_ns
        steps_ns = rank.steps[1].end_ns - rank.steps[0].start_ns
        assert sum(stage.time.window_ns for stage in rank.stages) == steps_ns


@EACH_SCENARIO
def test_taking_the_cause_away_is_worth_it_only_where_there_is_one(scenario: Scenario) -> None:
    recoverable = truth_of(scenario.name).recoverable
    if scenario.cause is None:
        assert (recoverable.recoverable_ns or 0) < 0.02 * recoverable.mean_step_ns
    else:
        assert recoverable.mean_step_without_ns is not None
        assert recoverable.recoverable_ns == recoverable.mean_step_ns - recoverable.mean_step_without_ns
        assert recoverable.recoverable_ns > 0.1 * recoverable.mean_step_ns


def test_a_healthy_gpu_computes() -> None:
    for rank in truth_of("healthy").ranks:
        assert frac(rank, rank.time.compute_only_ns + rank.time.overlapped_ns) > 0.98


def test_a_data_bound_step_takes_as_long_as_loading_its_batch() -> None:
    truth = truth_of("data_bound")

    loader_ns = find_scenario("data_bound").knobs.loader_ns
    assert truth.recoverable.mean_step_ns == pytest.approx(loader_ns, rel=0.05)
    for rank in truth.ranks:
        assert rank.idle_causes["data_loading_ns"] > 0.99 * rank.time.idle_ns


def test_what_a_communication_bound_job_can_win_is_what_is_exposed() -> None:
    truth = truth_of("communication_bound")

    exposed_per_step_ns = max(rank.time.exposed_communication_ns for rank in truth.ranks) / 3
    assert truth.recoverable.recoverable_ns == pytest.approx(exposed_per_step_ns, rel=0.02)


def test_an_all_reduce_takes_its_bytes_over_the_bus() -> None:
    # a layer has 9.5 x 4096^2 weights of 2 bytes; 2 ranks: factor 2 (n - 1) / n = 1; 15 GB/s
    size_bytes = 2 * 19 * 4096**2 // 2

    collectives = truth_of("communication_bound").collectives

    assert {(run.size_bytes, run.transfer_ns) for run in collectives} == {(size_bytes, round(size_bytes / 15))}
    assert len(collectives) == 3 * 4
    assert all(min(run.wait_by_rank_ns) == 0 for run in collectives)


def test_gemms_run_at_half_their_ceiling_or_at_it() -> None:
    for scenario, efficiency in (("compute_bound", 0.5), ("compute_sound", 0.995)):
        for gemm in truth_of(scenario).gemms:
            assert gemm.count * gemm.ceiling_ns / gemm.total_ns == pytest.approx(efficiency, rel=0.01)
            assert gemm.ceiling_ns == round(2 * gemm.m * gemm.n * gemm.k / 700e12 * 1e9)


def test_a_sync_bound_gpu_idles_for_the_host_that_waited_for_it() -> None:
    for rank in truth_of("sync_bound").ranks:
        assert rank.idle_causes["host_sync_ns"] > 0.95 * rank.time.idle_ns > 0


def test_a_launch_bound_gpu_starves() -> None:
    for rank in truth_of("launch_bound").ranks:
        launching_ns = rank.idle_causes["launch_starved_ns"] + rank.idle_causes["launch_latency_ns"]
        assert frac(rank, launching_ns) > 0.5


def test_allocating_costs_the_wait_and_the_call_in_each_layer() -> None:
    # 8 layers: the free returns 5 us after the GPU is idle, the allocation takes 1.5 ms +- 2 %
    for rank in truth_of("allocator").ranks:
        assert rank.idle_causes["allocator_ns"] == pytest.approx(3 * 8 * 1_505_000, rel=0.02)
        assert rank.idle_causes["allocator_ns"] > 0.9 * rank.time.idle_ns


def test_a_pageable_copy_is_exposed_and_holds_up_the_host() -> None:
    truth = truth_of("pageable_copies")

    # 8 layers copy 12 MB at 6 GB/s
    for rank in truth.ranks:
        assert rank.time.exposed_copy_ns == pytest.approx(3 * 8 * 12e6 / 6, rel=0.02)
    assert truth.recoverable.recoverable_ns is not None
    assert truth.recoverable.recoverable_ns >= 8 * 12e6 / 6 * 0.98


def test_only_the_first_step_loads_code() -> None:
    truth = truth_of("lazy_loading")

    for rank in truth.ranks:
        first, second = (step.end_ns - step.start_ns for step in rank.steps)
        assert second == pytest.approx(truth.recoverable.mean_step_without_ns, rel=0.02)
        assert rank.idle_causes["module_loading_ns"] > 0.95 * rank.time.idle_ns
        # the load before the first kernel of all lies before step 0
        assert first - second == pytest.approx(rank.time.idle_ns - 12_000_000, rel=0.02)


@pytest.mark.parametrize(("schema", "unrecorded_count"), [("3.25", 0), ("3.7", 3 * 8)])
def test_graphs_take_the_time_of_their_kernels_and_37_does_not_record_them(schema: str, unrecorded_count: int) -> None:
    job = Job(knobs=find_scenario("healthy").knobs, rank_count=2, step_count=3, seed=0)
    outside = {kernels.EMBEDDING, kernels.LOSS, kernels.NORM, kernels.ADAM, ""}
    outside.add(nccl.kernel_name(Collective.ALL_REDUCE))

    truth = small("graph_captured", schema=schema).truth

    for rank, uncaptured in zip(truth.ranks, simulate(job.programs()).ranks, strict=True):
        inside_ns = sum(work.end_ns - work.start_ns for work in uncaptured.works if work.task.name not in outside)
        assert rank.time.opaque_graph_ns == inside_ns
        if unrecorded_count == 0:
            assert rank.as_recorded is None
        else:
            assert rank.as_recorded is not None
            assert (rank.as_recorded.unrecorded_count, rank.as_recorded.unrecorded_ns) == (unrecorded_count, inside_ns)
            assert rank.as_recorded.time.opaque_graph_ns == 0
            assert rank.as_recorded.time.compute_only_ns == rank.time.compute_only_ns


def test_kineto_has_no_whole_graphs() -> None:
    with pytest.raises(UsageError, match="PyTorch's profiler records each kernel"):
        small("graph_captured", file_format=FileFormat.KINETO)


def test_the_others_wait_in_the_all_reduce_for_a_slow_gpu() -> None:
    truth = truth_of("straggler_compute")

    assert truth.slow_rank == 1
    for run in truth.collectives:
        assert run.wait_by_rank_ns[1] == 0
        assert run.wait_by_rank_ns[0] == run.start_by_rank_ns[1] - run.start_by_rank_ns[0] > 0
    assert truth.recoverable.mean_step_without_ns is not None
    assert truth.recoverable.mean_step_ns / truth.recoverable.mean_step_without_ns == pytest.approx(1.4, rel=0.02)


def test_the_others_wait_in_the_all_reduce_for_a_slow_loader() -> None:
    truth = truth_of("straggler_loader")

    waiting, slow = truth.ranks
    assert truth.slow_rank == 1
    assert slow.idle_causes["data_loading_ns"] > 0.99 * slow.time.idle_ns
    assert waiting.time.exposed_communication_ns > 0.99 * slow.time.idle_ns
    assert waiting.time.idle_ns < 0.01 * waiting.time.window_ns
    # the rank that waits starts step 0 at once, and step 2 once the slow one has loaded twice and made that step
    assert truth.recoverable.mean_step_without_ns is not None
    two_steps_ns = 2 * 180_000_000 + truth.recoverable.mean_step_without_ns
    assert 2 * truth.recoverable.mean_step_ns == pytest.approx(two_steps_ns, rel=0.02)


def test_one_rank_alone_has_nobody_to_communicate_with() -> None:
    truth = generate(Request(scenario=find_scenario("healthy"), rank_count=1, step_count=2)).truth

    assert truth.collectives == ()
    assert truth.ranks[0].time.exposed_communication_ns == 0


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("schema", ["3.7", "3.25"])
def test_the_files_hold_what_was_simulated(layout: Layout, schema: str, tmp_path: Path) -> None:
    generated = small("sync_bound", layout=layout, schema=schema)
    write(generated, tmp_path)

    for rank in generated.truth.ranks:
        with closing(sqlite3.connect(tmp_path / rank.file)) as connection:
            [window] = connection.execute(
                """SELECT min(start), max(end) FROM (
                     SELECT start, end, deviceId, globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL UNION ALL
                     SELECT start, end, deviceId, globalPid FROM CUPTI_ACTIVITY_KIND_MEMCPY UNION ALL
                     SELECT start, end, deviceId, globalPid FROM CUPTI_ACTIVITY_KIND_MEMSET)
                   WHERE deviceId = ? AND globalPid = ?""",
                (rank.device_id, (1 << 48) | (rank.pid << 24)),
            )
            reductions = connection.execute(
                """SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName
                   WHERE value LIKE 'nccl%' AND globalPid = ? ORDER BY start""",
                ((1 << 48) | (rank.pid << 24),),
            ).fetchall()
            [unmatched] = connection.execute(
                """SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k WHERE NOT EXISTS (
                     SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME r WHERE r.correlationId = k.correlationId
                     AND r.globalTid & ~0xFFFFFF = k.globalPid AND r.start <= k.start)"""
            )
        assert window == (rank.window_start_ns, rank.window_end_ns)
        assert reductions == [
            (run.start_by_rank_ns[rank.rank], run.end_by_rank_ns[rank.rank]) for run in generated.truth.collectives
        ]
        assert unmatched == (0,)


def test_gemm_shapes_stand_in_nvtx_ranges_as_pytorch_writes_them(tmp_path: Path) -> None:
    write(small("compute_bound"), tmp_path)

    with closing(sqlite3.connect(tmp_path / "compute-bound.sqlite")) as connection:
        texts = {text for (text,) in connection.execute("SELECT text FROM NVTX_EVENTS WHERE text LIKE 'aten::mm%'")}
    assert "aten::mm, op_id = 7, sizes = [[16384, 4096], [4096, 4096]]" in texts


def test_loads_are_calls_of_the_driver_and_pageable_memory_is_named(tmp_path: Path) -> None:
    for scenario in ("lazy_loading", "pageable_copies"):
        write(small(scenario), tmp_path)

    with closing(sqlite3.connect(tmp_path / "lazy-loading.sqlite")) as connection:
        loads = connection.execute(
            """SELECT eventClass, count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId
               WHERE value LIKE 'cu%Load%' GROUP BY 1"""
        ).fetchall()
        [kernel_names] = connection.execute("SELECT count(DISTINCT demangledName) FROM CUPTI_ACTIVITY_KIND_KERNEL")
    assert loads == [(1, 2 * kernel_names[0])]
    with closing(sqlite3.connect(tmp_path / "pageable-copies.sqlite")) as connection:
        copies = connection.execute("SELECT srcKind, bytes, count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY GROUP BY 1, 2")
        # two ranks, three steps: 8 masks of pageable memory, and tokens and labels from pinned
        assert sorted(copies) == [(0, 12_000_000, 48), (1, 8 * 4_096, 12)]


def test_ranks_lie_in_one_file_or_in_files_that_sort_like_them() -> None:
    one = generate(Request(scenario=find_scenario("healthy"), rank_count=12, step_count=2)).truth
    own = generate(
        Request(scenario=find_scenario("healthy"), rank_count=12, step_count=2, layout=Layout.PER_RANK)
    ).truth

    assert (one.files, [rank.device_id for rank in one.ranks]) == (("healthy.sqlite",), list(range(12)))
    assert own.files == tuple(f"healthy-rank{rank:02}.sqlite" for rank in range(12))
    assert [(rank.host, rank.device_id) for rank in own.ranks[7:9]] == [("node0", 7), ("node1", 0)]
    assert len({rank.gpu_uuid for rank in own.ranks}) == 12


def test_every_process_of_a_masked_report_sees_its_gpu_as_device_0(tmp_path: Path) -> None:
    for schema in ("3.7", "3.25"):
        write(small("healthy", layout=Layout.MASKED, schema=schema), tmp_path / schema)

    with closing(sqlite3.connect(tmp_path / "3.25" / "healthy.sqlite")) as connection:
        used = connection.execute(
            "SELECT DISTINCT deviceId, globalPid >> 24 & 0xFFFFFF FROM CUPTI_ACTIVITY_KIND_KERNEL"
        )
        assert sorted(used) == [(0, 1_000), (0, 1_001)]
        devices = connection.execute(
            """SELECT d.pid, d.cudaId, d.gpuId, g.uuid = d.uuid FROM TARGET_INFO_CUDA_DEVICE d
               JOIN TARGET_INFO_GPU g ON g.id = d.gpuId"""
        )
        assert sorted(devices) == [(1_000, 0, 0, 1), (1_001, 0, 1, 1)]
    with closing(sqlite3.connect(tmp_path / "3.7" / "healthy.sqlite")) as connection:
        assert not list(connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'TARGET_INFO_CUDA_DEVICE'"))


@pytest.mark.parametrize("file_format", FileFormat)
def test_of_an_omitted_rank_there_is_no_file(file_format: FileFormat) -> None:
    whole, rest = (
        generate(
            Request(
                scenario=find_scenario("healthy"),
                rank_count=3,
                step_count=2,
                layout=Layout.PER_RANK,
                file_format=file_format,
                omitted_ranks=omitted,
            )
        )
        for omitted in (frozenset[int](), frozenset({1}))
    )

    assert rest.truth.missing_ranks == (1,)
    assert rest.truth.files == tuple(rest.exports) == (whole.truth.files[0], whole.truth.files[2])
    assert rest.truth.ranks == (whole.truth.ranks[0], whole.truth.ranks[2])
    assert rest.truth.collectives == whole.truth.collectives
    assert rest.truth.recoverable == whole.truth.recoverable


@pytest.mark.parametrize("file_format", FileFormat)
def test_sessions_begin_apart_on_clocks_that_err(file_format: FileFormat, tmp_path: Path) -> None:
    request = Request(
        scenario=find_scenario("sync_bound"),
        rank_count=9,
        step_count=2,
        layout=Layout.PER_RANK,
        file_format=file_format,
    )
    together, apart = generate(request), generate(replace(request, clock_error_ns=2_000_000))
    write(apart, tmp_path)

    assert len({rank.session_start_ns for rank in apart.truth.ranks}) == 9
    assert {(rank.host, rank.utc_error_ns) for rank in apart.truth.ranks} == {
        (host, apart.truth.ranks[first].utc_error_ns) for host, first in (("node0", 0), ("node1", 8))
    }
    for here, there in zip(together.truth.ranks, apart.truth.ranks, strict=True):
        assert here.session_start_ns == here.utc_error_ns == 0
        assert 0 < abs(there.utc_error_ns) <= 2_000_000
        assert there.window_start_ns + there.session_start_ns == here.window_start_ns
        assert there.idle_causes == here.idle_causes
        stated_ns = read_trace(tmp_path / there.file, ReadOptions()).session_start_utc_ns
        assert stated_ns == 1_700_000_000 * 10**9 + there.session_start_ns + there.utc_error_ns
    assert apart.truth.collectives == together.truth.collectives


@pytest.mark.parametrize(
    ("layout", "omitted", "complaint"),
    [
        (Layout.ONE, {1}, "can only differ where each has a file"),
        (Layout.PER_RANK, {2}, "The ranks are 0 to 1"),
        (Layout.PER_RANK, {0, 1}, "The ranks are 0 to 1"),
    ],
)
def test_a_rank_that_cannot_be_omitted(layout: Layout, omitted: set[int], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        small("healthy", layout=layout, omitted_ranks=frozenset(omitted))


def test_equal_seeds_write_equal_bytes(tmp_path: Path) -> None:
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        write(small("healthy", seed=seed), tmp_path / folder)

    for name in ("healthy.sqlite", "healthy.truth.json"):
        a, b, c = ((tmp_path / folder / name).read_bytes() for folder in "abc")
        assert a == b
        assert a != c


def test_the_truth_survives_its_file() -> None:
    truth = truth_of("communication_bound")

    assert decode_truth(encode_truth(truth)) == truth


def test_a_job_too_small_for_its_scenario_is_refused() -> None:
    with pytest.raises(UsageError, match="communication-bound needs 2 ranks or more"):
        generate(Request(scenario=find_scenario("communication-bound"), rank_count=1))
    with pytest.raises(UsageError, match="there must be two"):
        generate(Request(scenario=find_scenario("healthy"), step_count=1))


def test_without_a_cause_there_is_nothing_to_recover() -> None:
    recoverable = truth_of("healthy").recoverable

    assert recoverable == Recoverable(recoverable.mean_step_ns, None, None)
