"""The partition through the whole pipeline: cases and traps seen in public, with their right values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from nsysan.analysis.gpu_time import DeviceTimes, GpuTime, JobTimes, PartSpreads, Spread
from nsysan.attribution.window import WindowChoice
from nsysan.model.errors import UsageError
from nsysan.model.partition import Activity, PartTimes
from nsysan.model.results import Skipped
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GEMM = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)"
FUSED = "void allreduce_fusion_kernel_oneshot_lamport<int>(int)"


def _gpu_time(folder: Path, *exports: Export, window: WindowChoice | None = None) -> GpuTime:
    options = AnalyzeOptions(window=window or WindowChoice())
    return result_of(analyze_exports(folder, *exports, options=options), GpuTime)


def test_two_streams_that_overlap_are_counted_once(tmp_path: Path) -> None:
    export = Export().kernel(0, 10, GEMM, stream=7).kernel(4, 12, GEMM, stream=13)

    (gpu,) = _gpu_time(tmp_path, export, window=WindowChoice(0, 20)).gpus

    # C01: the union is 12 of 20; the sum, 18, is a volume of work and never 90 % of utilisation
    assert gpu.time == PartTimes(12, 0, 0, 0, 0, 0, 8)
    assert (gpu.compute_busy_frac, gpu.device_active_frac, gpu.work_ns) == (0.6, 0.6, 18)


def test_both_sides_of_an_overlap_are_unions(tmp_path: Path) -> None:
    export = Export().kernel(0, 40, GEMM).kernel(30, 60, GEMM, stream=8)
    export.kernel(50, 80, ALL_REDUCE, stream=9).kernel(55, 70, ALL_REDUCE, stream=10)

    (gpu,) = _gpu_time(tmp_path, export, window=WindowChoice(0, 100)).gpus

    # C04: communication 30 (not its sum, 45), of which 10 under compute
    assert gpu.time == PartTimes(50, 10, 0, 0, 20, 0, 20)
    assert gpu.overlap_frac == 10 / 30


@pytest.mark.parametrize("how", [{"kind": 10}, {"kind": 8, "src_device": 0, "dst_device": 1}])
def test_copies_between_devices_are_communication(tmp_path: Path, how: dict[str, int]) -> None:
    export = Export().kernel(0, 60, GEMM).copy(40, 80, 1000, stream=8, **how)

    (gpu,) = _gpu_time(tmp_path, export, window=WindowChoice(0, 100)).gpus

    assert gpu.time == PartTimes(40, 20, 0, 0, 20, 0, 20)  # C06, C35


@pytest.mark.parametrize("how", [{"kind": 1}, {"kind": 8}, {"kind": 8, "src_device": 0, "dst_device": 0}])
def test_other_copies_are_copies(tmp_path: Path, how: dict[str, int]) -> None:
    export = Export().kernel(0, 60, GEMM).copy(40, 80, 1000, stream=8, **how).memset(85, 90, 64)

    (gpu,) = _gpu_time(tmp_path, export, window=WindowChoice(0, 100)).gpus

    assert gpu.time == PartTimes(60, 0, 0, 0, 0, 25, 15)


def test_fused_kernels_stay_out_of_the_overlap(tmp_path: Path) -> None:
    export = Export().kernel(0, 20, FUSED).kernel(10, 30, GEMM, stream=8).kernel(25, 45, ALL_REDUCE, stream=9)

    (gpu,) = _gpu_time(tmp_path, export).gpus

    # C36: fused alone 0-10, under compute 10-20; the collective is hidden 25-30 and exposed 30-45
    assert gpu.time == PartTimes(5, 15, 10, 0, 15, 0, 0)
    assert gpu.overlap_frac == 5 / 20
    assert gpu.compute_busy_frac == 30 / 45


def test_a_whole_graph_is_busy_with_the_unknown(tmp_path: Path) -> None:
    export = Export().graph(0, 95, graph_id=3)

    gpu_time = _gpu_time(tmp_path, export, window=WindowChoice(0, 100))

    (gpu,) = gpu_time.gpus
    assert gpu.time == PartTimes(0, 0, 0, 95, 0, 0, 5)  # C51, T8
    assert (gpu.device_active_frac, gpu.compute_busy_frac, gpu.overlap_frac) == (0.95, 0.0, None)


def test_communication_beside_a_graph_is_a_range(tmp_path: Path) -> None:
    export = Export().graph(0, 50).kernel(40, 70, ALL_REDUCE, stream=9).kernel(60, 65, GEMM, stream=8)

    (gpu,) = _gpu_time(tmp_path, export).gpus

    # 40-50 may be hidden by the graph or not; 60-65 is hidden; 50-60 and 65-70 are not
    assert gpu.time == PartTimes(0, 5, 0, 50, 15, 0, 0)
    assert (gpu.exposed_communication_max_ns, gpu.overlap_frac) == (25, None)


def test_records_without_a_possible_time_are_counted_not_used(tmp_path: Path) -> None:
    export = Export().kernel(100, 200, GEMM).kernel(0, 0, GEMM).kernel(400, 300, GEMM)
    export.kernel(-(2**63), 150, GEMM).kernel(120, 2**62, GEMM).kernel(-50, -10, GEMM).kernel(150, 150, GEMM)

    (device,) = _gpu_time(tmp_path, export).devices

    # C58, C59, C62; a kernel of no length (C61) is legal and adds nothing
    assert device.excluded_records == {
        "without_time": 1,
        "impossible_time": 2,
        "negative_length": 1,
        "before_capture": 1,
    }
    assert (device.window_start_ns, device.window_end_ns) == (100, 200)
    assert device.time == PartTimes(100, 0, 0, 0, 0, 0, 0)


def test_activities_are_clipped_at_the_capture_and_at_the_window(tmp_path: Path) -> None:
    export = Export().kernel(-50, 30, GEMM).kernel(40, 90, ALL_REDUCE, stream=9).session(duration_ns=200)

    whole = _gpu_time(tmp_path, export)
    inside = _gpu_time(tmp_path, export, window=WindowChoice(50, 80))

    assert whole.devices[0] == DeviceTimes(
        id="r0/p100/d0",
        report=0,
        gpu="gpu0",
        pid=100,
        device_id=0,
        window_start_ns=0,
        window_end_ns=90,
        lead_idle_ns=0,
        trail_idle_ns=110,
        time=PartTimes(30, 0, 0, 0, 50, 0, 10),
        idle_gap_count=1,
        longest_idle_gap_ns=10,
        excluded_records={},
    )
    # T4: nothing begins or ends in this window, yet it is all communication; around it 10 + 110 of idle
    assert inside.devices[0].time == PartTimes(0, 0, 0, 0, 30, 0, 0)
    assert (inside.devices[0].lead_idle_ns, inside.devices[0].trail_idle_ns) == (10, 110)


def test_processes_on_one_gpu_are_united_and_kept_apart(tmp_path: Path) -> None:
    export = Export().gpu(uuid="GPU-1")
    for pid in (100, 200):
        export.cuda_device(pid=pid, device_id=0, gpu_id=0, uuid="GPU-1")
    export.kernel(0, 10, GEMM, pid=100).kernel(30, 40, GEMM, pid=100).kernel(5, 20, ALL_REDUCE, pid=200)

    gpu_time = _gpu_time(tmp_path, export)

    (gpu,) = gpu_time.gpus
    assert (gpu.devices, gpu.uuid) == (("r0/p100/d0", "r0/p200/d0"), "GPU-1")
    assert gpu.time == PartTimes(15, 5, 0, 0, 10, 0, 10)  # T3
    assert [device.time for device in gpu_time.devices] == [
        PartTimes(20, 0, 0, 0, 0, 0, 20),
        PartTimes(0, 0, 0, 0, 15, 0, 0),
    ]


def test_unmatched_devices_are_gpus_of_their_own_and_it_is_said(tmp_path: Path) -> None:
    export = Export("3.7").gpu(0, uuid="GPU-1").gpu(1, uuid="GPU-2")
    export.kernel(0, 10, GEMM, pid=100).kernel(0, 10, GEMM, pid=200)

    run = analyze_exports(tmp_path, export)

    assert [gpu.devices for gpu in result_of(run, GpuTime).gpus] == [("r0/p100/d0",), ("r0/p200/d0",)]
    assert [note.id for note in run.notes] == ["gpus_not_matched"]


def test_a_machine_with_one_gpu_leaves_no_choice(tmp_path: Path) -> None:
    export = Export("3.7").gpu(0, uuid="GPU-1").kernel(0, 10, GEMM, pid=100).kernel(0, 10, GEMM, pid=200)

    assert len(_gpu_time(tmp_path, export).gpus) == 1


def test_mig_instances_are_gpus_of_their_own(tmp_path: Path) -> None:
    export = Export().gpu(0, uuid="GPU-1", sm_count=132, bus_location="0000:01:00.0")
    export.cuda_device(pid=100, device_id=0, gpu_id=0, uuid="MIG-a", sm_count=60)
    export.cuda_device(pid=200, device_id=0, gpu_id=0, uuid="MIG-b", sm_count=60)
    export.kernel(0, 10, GEMM, pid=100).kernel(0, 10, GEMM, pid=200)

    assert [gpu.uuid for gpu in _gpu_time(tmp_path, export).gpus] == ["MIG-a", "MIG-b"]  # C72


@pytest.mark.parametrize(("sm_count", "gpu_count"), [(132, 1), (60, 2)])
def test_the_bus_matches_only_whole_gpus(tmp_path: Path, sm_count: int, gpu_count: int) -> None:
    export = Export().gpu(0, uuid=None, sm_count=132, bus_location="0000:01:00.0")
    for pid in (100, 200):
        export.cuda_device(pid=pid, gpu_id=0, uuid=None, sm_count=sm_count).kernel(0, 10, GEMM, pid=pid)

    assert len(_gpu_time(tmp_path, export).gpus) == gpu_count


def _rank_file(rank: int, host: str | None) -> Export:
    export = Export().session(utc_epoch_ns=1_700_000_000_000_000_000 + 1000 * rank, duration_ns=10_000)
    export.gpu(uuid="GPU-1").cuda_device(pid=100, uuid="GPU-1").kernel(0, 100 + rank, GEMM, pid=100)
    return export.host(host) if host else export


def test_eight_files_that_all_say_device_0_are_eight_gpus(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, *(_rank_file(rank, None) for rank in range(8)))

    assert [gpu.devices for gpu in result_of(run, GpuTime).gpus] == [(f"r{rank}/p100/d0",) for rank in range(8)]  # C70
    assert [note.id for note in run.notes] == ["gpus_repeated"]


def test_one_gpu_in_two_files_of_one_host_is_one_on_one_clock(tmp_path: Path) -> None:
    (gpu,) = _gpu_time(tmp_path, _rank_file(0, "node1"), _rank_file(1, "node1")).gpus

    # the second session began 1000 ns later: kernels at 0-100 and 1000-1101
    assert gpu.devices == ("r0/p100/d0", "r1/p100/d0")
    assert gpu.time == PartTimes(201, 0, 0, 0, 0, 0, 900)


def test_two_captures_of_one_gpu_at_different_times_are_not_one(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, _rank_file(0, "node1"), _rank_file(20, "node1"))

    assert len(result_of(run, GpuTime).gpus) == 2
    assert [note.id for note in run.notes] == ["gpus_repeated"]
    assert run.findings == ()


def test_files_that_know_nothing_of_their_gpus_say_so(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().kernel(0, 10, GEMM), Export().kernel(0, 11, GEMM))

    assert len(result_of(run, GpuTime).gpus) == 2
    assert [note.id for note in run.notes] == ["gpus_not_matched"]


def test_files_that_know_their_gpus_without_a_uuid_say_so(tmp_path: Path) -> None:
    one, other = (
        Export().gpu(bus_location="0000:10:00.0").cuda_device().kernel(0, end_ns, GEMM) for end_ns in (10, 11)
    )

    run = analyze_exports(tmp_path, one, other)

    assert len(result_of(run, GpuTime).gpus) == 2
    assert [note.id for note in run.notes] == ["gpus_not_matched"]


def test_streams_of_one_number_on_four_devices_stay_apart(tmp_path: Path) -> None:
    export = Export().kernel(0, 86, GEMM, device=0, stream=7)
    for device in (1, 2, 3):
        export.kernel(0, 86, GEMM, device=device, stream=17)

    gpu_time = _gpu_time(tmp_path, export, window=WindowChoice(0, 100))

    assert [gpu.device_active_frac for gpu in gpu_time.gpus] == [0.86] * 4  # C02, T7


def test_the_job_names_its_worst_gpu(tmp_path: Path) -> None:
    export = Export().kernel(0, 100, GEMM, device=0)
    export.kernel(0, 50, GEMM, device=1).kernel(90, 100, ALL_REDUCE, device=1)

    job = _gpu_time(tmp_path, export).job

    assert job == JobTimes(
        gpu_count=2,
        time=PartSpreads(
            compute_only=Spread(0.75, 0.5, "gpu1", 0.5),
            overlapped=Spread(0.0, 0.0, "gpu0", 0.0),
            fused=Spread(0.0, 0.0, "gpu0", 0.0),
            opaque_graph=Spread(0.0, 0.0, "gpu0", 0.0),
            exposed_communication=Spread(0.05, 0.1, "gpu1", 0.1),
            exposed_copy=Spread(0.0, 0.0, "gpu0", 0.0),
            idle=Spread(0.2, 0.4, "gpu1", 0.4),
        ),
        compute_busy_frac=Spread(0.75, 0.5, "gpu1", 0.5),
        device_active_frac=Spread(0.8, 0.6, "gpu1", 0.4),
        unseen_graph_launch_count=None,
    )


def test_profiler_overhead_before_the_first_kernel_is_not_in_the_window(tmp_path: Path) -> None:
    export = Export().overhead(0, 1_000_000, "CUDA profiling initialization", pid=100)
    export.kernel(1_000_000_000, 1_000_000_100, GEMM)

    (gpu,) = _gpu_time(tmp_path, export).gpus

    assert gpu.time == PartTimes(100, 0, 0, 0, 0, 0, 0)  # T14


def test_without_gpu_work_the_answer_is_skipped(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().nvtx(0, 10, "step"))

    assert run.results.get(GpuTime) == Skipped(
        "gpu_time", "the trace holds no GPU work", "Record CUDA activity: nsys profile -t cuda,nvtx ..."
    )
    assert run.diagnosis.why == "No verdict: the trace holds no GPU work."


def test_records_that_cannot_be_used_are_not_a_missing_recording(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().kernel(0, 0, GEMM))

    assert run.results.get(GpuTime) == Skipped("gpu_time", "no record of GPU work can be used; the notes say why", None)
    assert [note.sentence for note in run.notes] == [
        "Device r0/p100/d0 is left out: it has 1 record, and none with a possible time."
    ]


def test_work_of_no_length_leaves_no_window(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export().kernel(10, 10, GEMM))

    assert run.results.get(GpuTime) == Skipped("gpu_time", "the GPU work recorded takes no time at all", None)


def test_a_gpu_that_ended_before_the_window_is_not_judged_as_idle(tmp_path: Path) -> None:
    export = Export().kernel(0, 50, GEMM, device=0).kernel(0, 200, GEMM, device=1)

    gpu_time = _gpu_time(tmp_path, export, window=WindowChoice(from_ns=100))

    assert [gpu.time.window_ns for gpu in gpu_time.gpus] == [0, 100]
    assert gpu_time.gpus[0].compute_busy_frac is None
    assert gpu_time.job.compute_busy_frac == Spread(1.0, 1.0, "gpu1", 0.0)


def test_a_window_inside_a_gap_is_all_idle(tmp_path: Path) -> None:
    export = Export().kernel(0, 10, GEMM).kernel(90, 100, GEMM)

    (gpu,) = _gpu_time(tmp_path, export, window=WindowChoice(20, 60)).gpus

    assert gpu.time == PartTimes(0, 0, 0, 0, 0, 0, 40)


def test_a_window_is_one_window_on_every_clock(tmp_path: Path) -> None:
    # the second session began 1000 ns later: its kernel runs at 1000-1101 on the first one's clock
    gpu_time = _gpu_time(tmp_path, _rank_file(0, "node1"), _rank_file(1, "node1"), window=WindowChoice(50, 1050))

    assert gpu_time.gpus[0].time == PartTimes(100, 0, 0, 0, 0, 0, 900)
    assert [(device.window_start_ns, device.time.compute_only_ns) for device in gpu_time.devices] == [
        (50, 50),
        (-950, 50),
    ]


def test_a_window_ends_with_the_capture(tmp_path: Path) -> None:
    export = Export().kernel(0, 50, GEMM).session(duration_ns=80)

    (gpu,) = _gpu_time(tmp_path, export, window=WindowChoice(0, 10**12)).gpus

    assert gpu.time == PartTimes(50, 0, 0, 0, 0, 0, 30)


def test_a_window_reaches_work_that_outlasts_the_stated_length_of_the_capture(tmp_path: Path) -> None:
    export = Export().kernel(0, 50, GEMM).kernel(90, 150, GEMM).session(duration_ns=80)

    ((gpu,), (late,)) = (_gpu_time(tmp_path, export, window=WindowChoice(begin, 10**12)).gpus for begin in (0, 85))

    assert gpu.time == PartTimes(110, 0, 0, 0, 0, 0, 40)
    assert late.time == PartTimes(60, 0, 0, 0, 0, 0, 5)


def test_a_window_that_holds_no_work_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No GPU work lies in the window") as caught:
        _gpu_time(tmp_path, Export().kernel(1_000_000_000, 1_500_000_000, GEMM), window=WindowChoice(0, 10))

    assert caught.value.hint == "There is GPU work from 1.000000000s to 1.500000000s."


ADDERS: dict[Activity, Callable[[Export, int, int, int], object]] = {
    Activity.COMPUTE: lambda export, start, end, pid: export.kernel(start, end, GEMM, pid=pid),
    Activity.COMMUNICATION: lambda export, start, end, pid: export.kernel(start, end, ALL_REDUCE, pid=pid, stream=9),
    Activity.FUSED: lambda export, start, end, pid: export.kernel(start, end, FUSED, pid=pid),
    Activity.GRAPH: lambda export, start, end, pid: export.graph(start, end, pid=pid),
    Activity.COPY: lambda export, start, end, pid: export.copy(start, end, 8, pid=pid, stream=11),
}

records = st.lists(
    st.tuples(st.integers(1, 60), st.integers(0, 25), st.sampled_from(list(Activity)), st.sampled_from((100, 200))),
    min_size=1,
    max_size=20,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records)
def test_a_shared_gpu_equals_brute_force(tmp_path: Path, drawn: list[tuple[int, int, Activity, int]]) -> None:
    window = range(min(start for start, *_ in drawn), max(start + length for start, length, *_ in drawn))
    assume(len(window) > 0)
    export = Export().gpu(uuid="GPU-1")
    for pid in (100, 200):
        export.cuda_device(pid=pid, uuid="GPU-1")
    for start, length, kind, pid in drawn:
        ADDERS[kind](export, start, start + length, pid)
    (gpu,) = _gpu_time(tmp_path, export).gpus

    running = {kind: {m for s, length, k, _ in drawn if k is kind for m in range(s, s + length)} for kind in Activity}
    c, n, f, g, m = running.values()
    assert gpu.time == PartTimes(
        len(c - (n | f)),
        len(c & (n | f)),
        len(f - c),
        len(g - (c | f)),
        len(n - (c | f | g)),
        len(m - (c | f | g | n)),
        len(set(window) - (c | n | f | g | m)),
    )


def test_where_every_kernel_is_one_of_very_many_the_end_of_start_up_is_unknown(tmp_path: Path) -> None:
    export = Export()
    for number in range(200):
        export.call(20 * number, 20 * number + 2, "cudaLaunchKernel", correlation=number + 1)
        export.kernel(20 * number + 5, 20 * number + 15, f"kernel_of_name_{number}", correlation=number + 1)

    (device,) = result_of(analyze_exports(tmp_path, export), GpuTime).devices

    assert device.idle_causes is not None
    assert device.start_up is None


@pytest.mark.parametrize(("round_count", "end_ns"), [(1, None), (2, 75), (5, 75)])
def test_start_up_without_steps_ends_with_the_first_round_unless_that_is_most_of_the_work(
    tmp_path: Path, round_count: int, end_ns: int | None
) -> None:
    export = Export()
    for number in range(4 * round_count):
        export.call(20 * number, 20 * number + 2, "cudaLaunchKernel", correlation=number + 1)
        export.kernel(20 * number + 5, 20 * number + 15, f"kernel_{'abcd'[number % 4]}", correlation=number + 1)

    (device,) = result_of(analyze_exports(tmp_path, export), GpuTime).devices

    assert (None if device.start_up is None else device.start_up.end_ns) == end_ns
