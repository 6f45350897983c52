"""Sampled counters: by name whatever the spelling, averaged over window, parts and steps; unknown is never zero."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsysan.analysis.counters import Counters, CountersOfGpu, PartSamples, compute_counters
from nsysan.analysis.network_counters import NetworkCounter
from nsysan.attribution.job import build_job
from nsysan.cli.main import main
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.counters import Counter, counter_of
from nsysan.model.results import ResultSet, Skipped
from nsysan.synth.export import Export

ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)"
SCHEMAS = pytest.mark.parametrize("schema", ["3.7", "3.25"])


@pytest.mark.parametrize(
    ("name", "counter"),
    [
        ("SM Active", Counter.SM_ACTIVE),
        ("SMs Active [Throughput %]", Counter.SM_ACTIVE),
        ("SM Issue [Throughput %]", Counter.SM_ISSUE),
        ("Tensor Active / FP16 Active [Throughput %]", Counter.TENSOR_ACTIVE),
        ("Compute Warps in Flight [Throughput %]", Counter.SM_OCCUPANCY),
        ("Compute Warps in Flight [Avg Warps per Cycle]", None),
        ("Unallocated Warps in Active SMs [Throughput %]", None),
        ("DRAM Read Bandwidth [Throughput %]", Counter.DRAM_READ),
        ("VRAM Write Throughput [Throughput %]", Counter.DRAM_WRITE),
        ("NVLink RX Responses Protocol Data [Throughput %]", Counter.NVLINK_RX),
        ("NVLink TX Requests User Data [Throughput %]", Counter.NVLINK_TX),
        ("PCIe RX Throughput [Throughput %]", Counter.PCIE_RX),
        ("PCIe Read Requests to BAR1 [Requests]", None),
        ("GPC Clock Frequency [MHz]", Counter.GPC_CLOCK),
        ("SYS Clock Frequency [MHz]", None),
        ("", None),
        ("[", None),
    ],
)
def test_names_of_metrics(name: str, counter: Counter | None) -> None:
    assert counter_of(name) is counter


def counters_of(path: Path) -> Counters | Skipped:
    return compute_counters(build_job([read_trace(path, ReadOptions())]), ResultSet({}))


def gpu_counters(path: Path) -> tuple[CountersOfGpu, ...]:
    found = counters_of(path)
    assert isinstance(found, Counters), found
    return found.counters


def one_gpu(schema: str = "3.25") -> Export:
    export = Export(schema).gpu(uuid="0-1")
    return export if schema == "3.7" else export.cuda_device(uuid="0-1")


def fracs(gpu: CountersOfGpu) -> dict[str, tuple[float, float | None, float | None, float | None]]:
    """Over the window, and while compute alone, communication alone and nothing runs."""
    return {
        found.counter.value: (
            found.window_frac,
            found.part_fracs.compute_only_frac,
            found.part_fracs.exposed_communication_frac,
            found.part_fracs.idle_frac,
        )
        for found in gpu.counters
    }


@SCHEMAS
def test_parts_are_told_by_samples_that_lie_wholly_in_them(schema: str, tmp_path: Path) -> None:
    export = one_gpu(schema).kernel(1_000, 4_000, "gemm").kernel(4_000, 6_500, ALL_REDUCE)
    # computing 1 to 4 us, communicating 4 to 6.5 us, idle to 7 us
    export.copy(7_000, 8_000, 1)
    export.gpu_metrics(0, ["SMs Active", "Tensor Active"])
    values = [(9, 9), (100, 60), (100, 60), (80, 40), (18, 0), (18, 0), (10, 0), (2, 0), (7, 7)]
    for place, (active, tensor) in enumerate(values):
        export.gpu_sample(1_000 * (place + 1), 0, {"SMs Active": active, "Tensor Active": tensor})

    (gpu,) = gpu_counters(export.write(tmp_path / "r.sqlite"))

    assert (gpu.gpu, gpu.period_ns, gpu.sample_count, gpu.sampled_ns) == ("gpu0", 1_000, 7, 7_000)
    # the sample up to 7 us is of communication and idle time: it counts for the window alone
    expected: object = {
        "sm_active": (pytest.approx(3.28 / 7), pytest.approx(2.8 / 3), pytest.approx(0.18), None),
        "tensor_active": (pytest.approx(1.6 / 7), pytest.approx(1.6 / 3), 0.0, None),
    }
    assert fracs(gpu) == expected
    assert gpu.part_samples == PartSamples(3, 0, 0, 0, 2, 1, 0)


def test_steady_steps_are_averaged_apart(tmp_path: Path) -> None:
    export = one_gpu()
    for step in range(4):
        begin_ns = 1_000 * step
        export.nvtx(begin_ns, begin_ns + 900, f"step {step}")
        export.call(begin_ns + 5, begin_ns + 9, "cudaLaunchKernel_v7000", correlation=step + 1)
        export.kernel(begin_ns + 100, begin_ns + 900, "gemm", correlation=step + 1)
    export.gpu_metrics(0, ["SM Issue"])
    for place in range(8):
        export.gpu_sample(500 * (place + 1), 0, {"SM Issue": 10 * place})

    (gpu,) = gpu_counters(export.write(tmp_path / "r.sqlite"))

    # steps tile 100 to 3,100: 400 ns of 0 %, 500 ns each of 10 to 50 %, 100 ns of 60 %
    assert gpu.counters[0].steps_frac == pytest.approx((500 * 1.5 + 100 * 0.6) / 3_000)


def test_a_type_that_holds_nothing_but_the_id_of_its_gpu_is_read(tmp_path: Path) -> None:
    export = one_gpu().kernel(0, 2_000, "gemm").gpu_metrics(0, ["SM Issue"])
    export.gpu_sample(1_000, 0, {"SM Issue": 40}).gpu_sample(2_000, 0, {"SM Issue": 60})
    export.sql("UPDATE GPU_METRICS SET typeId = 0").sql("UPDATE TARGET_INFO_GPU_METRICS SET typeId = 0")

    (gpu,) = gpu_counters(export.write(tmp_path / "r.sqlite"))

    assert gpu.counters[0].window_frac == pytest.approx(0.5)


def test_lost_samples_are_not_made_up(tmp_path: Path) -> None:
    export = one_gpu().kernel(0, 10_000, "gemm").gpu_metrics(0, ["SM Issue"])
    for time_ns, percent in ((1_000, 10), (2_000, 10), (3_000, 10), (9_000, 90)):
        export.gpu_sample(time_ns, 0, {"SM Issue": percent})

    (gpu,) = gpu_counters(export.write(tmp_path / "r.sqlite"))

    # the last sample stands for 1.5 us before it
    assert gpu.sampled_ns == 4_500
    assert gpu.counters[0].window_frac == pytest.approx((3_000 * 0.1 + 1_500 * 0.9) / 4_500)


@pytest.mark.parametrize("value", [-1, 201, 2**62])
def test_a_value_that_no_counter_has_is_left_out_and_said(tmp_path: Path, value: int) -> None:
    export = one_gpu().kernel(0, 5_000, "gemm").gpu_metrics(0, ["SM Issue"])
    for time_ns, percent in ((1_000, 10), (2_000, 20), (3_000, value), (4_000, 20), (5_000, 20)):
        export.gpu_sample(time_ns, 0, {"SM Issue": percent})
    job = build_job([read_trace(export.write(tmp_path / "r.sqlite"), ReadOptions())])

    found = compute_counters(job, ResultSet({}))

    assert isinstance(found, Counters)
    # 1 us between samples is usual, and a sample stands for 1.5 of it at most
    assert found.counters[0].counters[0].window_frac == pytest.approx((1_000 * 0.1 + 3_500 * 0.2) / 4_500)
    assert [note.sentence for note in job.notes if note.id == "damaged_host_records"] == [
        "Left out for impossible times or values: 1 record of counter samples in r.sqlite."
    ]


# nsys stores Hz, whatever the metric's name says
@pytest.mark.parametrize("clock", [1_755, 1_755_000_000])
def test_the_parts_of_a_link_add_up_and_the_clock_is_a_clock(tmp_path: Path, clock: int) -> None:
    metrics = {"NVLink RX Requests User Data": 20, "NVLink RX Responses User Data": 30, "GPC Clock Frequency": clock}
    export = one_gpu().kernel(0, 2_000, "gemm").gpu_metrics(0, list(metrics))
    export.gpu_sample(1_000, 0, metrics).gpu_sample(2_000, 0, metrics)
    export.sql("UPDATE TARGET_INFO_GPU_METRICS SET metricName = 'GPC Clock Frequency [MHz]' WHERE metricId = 3")

    (gpu,) = gpu_counters(export.write(tmp_path / "r.sqlite"))

    assert [(found.counter, found.metric_count, found.window_frac) for found in gpu.counters] == [
        (Counter.NVLINK_RX, 2, 0.5)
    ]
    assert gpu.gpc_clock_hz == 1_755_000_000


def test_counters_that_are_json_alone(tmp_path: Path) -> None:
    # nsys before 2023 has no rows of numbers
    export = one_gpu("3.7").kernel(0, 2_000, "gemm").gpu_metrics(0, ["SM Active"])
    export.gpu_sample(1_000, 0, {"SM Active": 40}).gpu_sample(2_000, 0, {"SM Active": 60})
    export.sql("DROP TABLE GPU_METRICS").sql("DROP TABLE TARGET_INFO_GPU_METRICS")
    export.sql("INSERT INTO GENERIC_EVENTS VALUES (7, 7, 0, '[1]'), (8, 8, 0, '{'), (9, NULL, 0, '{}')")

    (gpu,) = gpu_counters(export.write(tmp_path / "r.sqlite"))

    assert fracs(gpu) == {"sm_active": (0.5, 0.5, None, None)}


def test_which_gpu_it_was_is_not_guessed(tmp_path: Path) -> None:
    # two GPUs, and no table that tells which of them a process saw
    export = Export("3.7").gpu(0, uuid="0-1").gpu(1, uuid="0-2").kernel(0, 2_000, "gemm")
    export.gpu_metrics(1, ["SM Active"]).gpu_sample(1_000, 1, {"SM Active": 40}).gpu_sample(2_000, 1, {"SM Active": 60})

    (gpu,) = gpu_counters(export.write(tmp_path / "r.sqlite"))

    assert (gpu.gpu, gpu.machine_gpu_id, gpu.part_samples) == (None, 1, None)
    assert fracs(gpu) == {"sm_active": (0.5, None, None, None)}


def test_counters_of_a_whole_gpu_are_not_those_of_an_instance(tmp_path: Path) -> None:
    export = Export().gpu(uuid="0-1", sm_count=132).cuda_device(uuid="MIG-1", sm_count=16).kernel(0, 2_000, "gemm")
    export.gpu_metrics(0, ["SM Active"]).gpu_sample(1_000, 0, {"SM Active": 40}).gpu_sample(2_000, 0, {"SM Active": 60})

    (gpu,) = gpu_counters(export.write(tmp_path / "r.sqlite"))

    assert (gpu.gpu, gpu.machine_gpu_id, gpu.part_samples) == (None, 0, None)


def test_no_figure_where_nothing_was_sampled(tmp_path: Path) -> None:
    export = one_gpu().kernel(0, 2_000, "gemm")

    assert counters_of(export.write(tmp_path / "r.sqlite")) == Skipped(
        "counters",
        "the trace holds no sampled counters by a name that nsysan knows, and unknown is not zero",
        "Record with --gpu-metrics-devices=all (nsys 2023.4: --gpu-metrics-device=all).",
    )


def test_samples_from_before_the_work_say_nothing(tmp_path: Path) -> None:
    export = one_gpu().kernel(90_000, 92_000, "gemm").gpu_metrics(0, ["SM Active"])
    export.gpu_sample(1_000, 0, {"SM Active": 40}).gpu_sample(2_000, 0, {"SM Active": 60})

    found = counters_of(export.write(tmp_path / "r.sqlite"))

    assert found == Skipped("counters", "counters were sampled, but not while these GPUs were at work", None)


@SCHEMAS
def test_counters_of_adapters(schema: str, tmp_path: Path) -> None:
    export = one_gpu(schema).kernel(1_000, 3_000, "gemm")
    export.network_adapter(2, "mlx5_0").network_metric(6, "IB: Bytes sent").network_metric(
        10, "IB: Send waits", "ticks/ms"
    )
    export.network_sample(0, 1_500, 2, 6, 100).network_sample(1_500, 3_000, 2, 6, 500)
    export.network_sample(2_000, 3_000, 2, 10, 7).network_sample(4_000, 5_000, 2, 10, 99)
    # of no length, alone and beside others: they say nothing
    export.network_sample(2_000, 2_000, 3, 6, 5).network_sample(2_000, 2_000, 2, 6, 9_000)

    found = counters_of(export.write(tmp_path / "r.sqlite"))

    assert isinstance(found, Counters)
    port = 1 if schema == "3.25" else None
    assert found.network_counters == (
        NetworkCounter(0, "mlx5_0", port, "IB: Bytes sent", "bytes/ms", 2_000, 400.0, 500),
        NetworkCounter(0, "mlx5_0", port, "IB: Send waits", "ticks/ms", 1_000, 7.0, 7),
    )


def test_the_means_are_what_was_planted(tmp_path: Path) -> None:
    arguments = ["synth", "communication-bound", "--ranks", "2", "--steps", "4", "--trace", "cuda,nvtx,metrics"]
    assert main([*arguments, "-o", str(tmp_path)]) == 0
    truth = json.loads((tmp_path / "communication-bound.truth.json").read_text())["ranks"]
    names = {"sm_active": "SMs Active", "tensor_active": "Tensor Active", "dram_read": "DRAM Read Bandwidth"}

    for gpu, rank in zip(gpu_counters(tmp_path / "communication-bound.sqlite"), truth, strict=True):
        planted, means = rank["system"]["counter_mean_percents"], fracs(gpu)
        for counter, name in names.items():
            # samples are whole percents
            assert 100 * means[counter][0] == pytest.approx(planted[name], abs=0.5)
        # NCCL keeps 18 % of the multiprocessors, and none of them computes with tensors
        assert means["sm_active"][2] == pytest.approx(0.18)
        assert means["tensor_active"][2] == 0.0
