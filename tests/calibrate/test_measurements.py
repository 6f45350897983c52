"""A whole calibration against the fake libraries: what is programmed is what stands in the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nsysan.calibrate import data_types
from nsysan.calibrate.bench import Bench
from nsysan.calibrate.calibration import calibrate, measurements
from nsysan.calibrate.measurements import collectives, gemm, launches, links, memory
from nsysan.calibrate.sampling import Effort
from nsysan.calibrate.shapes import Shape
from nsysan.cli.main import main
from nsysan.hardware.ceilings_json import decode_ceilings, encode_ceilings, read_ceilings
from nsysan.model.ceilings import Algorithm, Ceilings, Dtype, Launch, Pattern, Timing, Transposes, Waived
from nsysan.model.errors import MissingToolError, UndecidableError, UsageError
from nsysan.model.kernels import Collective
from tests.calibrate.fakes import VARIABLES, Fake

pytestmark = pytest.mark.native

TINY = Effort(0.1, 0.3, 0.1, 0.5, 3, 0.2, is_quick=False)
MS = 1e6
LAUNCH_NS = 100 * MS
BRIEF = Effort(0.0001, 0.001, 0.0001, 0.001, 3, 0.0001, is_quick=False)
"""For what is timed on the real clock."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes and sizes that the fake, which really multiplies and adds, is quick with."""
    monkeypatch.setattr(data_types, "_BLOCK_COUNT", 1009)
    data_types.random_block.cache_clear()
    monkeypatch.setattr(gemm, "usual_shapes", lambda **_: (Shape(16, 8, 32),))
    monkeypatch.setattr(memory, "_LEAST_BYTES", 1 << 12)
    monkeypatch.setattr(links, "_SIZES_BYTES", (1 << 10, 1 << 12))
    monkeypatch.setattr(links, "_QUICK_SIZES_BYTES", (1 << 10,))
    monkeypatch.setattr(collectives, "_LARGEST_BYTES", 64)
    monkeypatch.setattr(collectives, "_QUICK_LARGEST_BYTES", 64)
    monkeypatch.setattr(launches, "_CALLS", 5)


def measured(
    fake: Fake, *only: str, times_ns: tuple[float, ...] = (LAUNCH_NS,), effort: Effort = TINY, force: bool = False
) -> Ceilings:
    fake.program(*times_ns)
    ceilings = calibrate(Bench(effort), measurements(only), force=force)
    assert decode_ceilings(encode_ceilings(ceilings)) == ceilings
    return ceilings


def test_products_of_every_data_type_are_right_and_timed(fake: Fake) -> None:
    """The fake multiplies in each type, and 256 elements of each product are held against fp64: all are right."""
    found = measured(fake, "gemm")
    # 2 x 16 x 8 x 32 = 8192 operations in 100 ms
    assert [one.flop_per_s for one in found.gemm] == pytest.approx([81_920] * 8)
    assert [one.dtype for one in found.gemm] == sorted(set(Dtype) - {Dtype.NVFP4})
    assert found.waived == (Waived("gemm nvfp4", "cuBLASLt proposes no algorithm for it on this GPU"),)
    one = found.gemm[0]
    assert one.conditions is not None
    assert (one.conditions.sm_clock_mean_hz, one.conditions.power_mean_w) == (1.755e9, 650.0)
    assert one.conditions.throttle_reasons == ("sw_power_cap",)
    assert one.warnings == ()


def test_an_algorithm_that_computes_wrongly_is_no_ceiling(fake: Fake) -> None:
    fake.set(wrong_by=1000)
    found = measured(fake, "gemm")
    assert found.gemm == ()
    reasons = {one.reason for one in found.waived if "bf16" in one.measurement}
    assert reasons == {"256 of its checked elements are wrong"}


@pytest.mark.parametrize(("others_take", "told"), [(0.5, {Algorithm.BEST: 163_840}), (0.99, {}), (2.0, {})])
def test_a_faster_algorithm_is_told_beside_the_first(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, others_take: float, told: dict[Algorithm, float]
) -> None:
    monkeypatch.setattr(gemm, "Dtype", [Dtype.BF16])
    fake.set(others_take=others_take)
    found = measured(fake, "gemm")
    assert {one.algorithm: one.flop_per_s for one in found.gemm} == pytest.approx({Algorithm.HEURISTIC: 81_920, **told})


def test_products_that_were_asked_for_are_measured_once(fake: Fake) -> None:
    asked = ((Dtype.BF16, Shape(8, 8, 16, Transposes.NT)), (Dtype.FP8, Shape(8, 8, 16, Transposes.NT)))
    fake.program(LAUNCH_NS)
    found = calibrate(Bench(TINY, more_products=(*asked, *asked)), measurements(["gemm"]), force=False)
    # fp8 is multiplied with A transposed alone
    assert [(one.dtype, one.transposes) for one in found.gemm if one.k == 16] == [
        (Dtype.BF16, Transposes.NT),
        (Dtype.FP8, Transposes.TN),
    ]


@pytest.mark.usefixtures("fake")
def test_the_time_of_products_is_told_before() -> None:
    """An H100 has 7 of the data types: of a shape 0.2 s are waited, as much is measured, and a second goes besides."""
    (products,) = measurements(["gemm"])
    assert products.estimate_s(Bench(TINY)) == pytest.approx(7 * (0.2 + 0.2 + 1))


def test_memory_counts_what_is_read_and_written(fake: Fake) -> None:
    found = measured(fake, "memory")
    # buffers of eight times the L2 of 4096 bytes; copy moves each byte twice, triad three times, in 100 ms
    assert [(one.pattern, one.size_bytes) for one in found.memory] == [(Pattern.COPY, 32768), (Pattern.TRIAD, 32768)]
    assert [one.bytes_per_s for one in found.memory] == pytest.approx([2 * 32768 / 0.1, 3 * 32768 / 0.1])


def test_links_of_every_gpu_both_ways(fake: Fake) -> None:
    found = measured(fake, "links", effort=BRIEF)
    pinned = [one for one in found.links if one.host_memory is None or one.host_memory.value == "pinned"]
    # 2 GPUs x 2 directions and 2 ways between them, each of 2 sizes
    assert len(pinned) == 2 * (2 * 2 + 2)
    assert {one.size_bytes: one.bytes_per_s for one in pinned} == {
        1024: pytest.approx(10_240),
        4096: pytest.approx(40_960),
    }
    assert len(found.links) == len(pinned) + 8


def test_launches(fake: Fake) -> None:
    found = {one.launch: one for one in measured(fake, "launches", times_ns=(2000.0,)).launches}
    assert set(found) == set(Launch)
    assert found[Launch.GRAPH_NODE].each_ns == pytest.approx(2000)


def test_collectives_are_right_and_their_bandwidth_is_that_of_nccl_tests(fake: Fake) -> None:
    found = measured(fake, "nccl")
    assert len(found.collectives) == 7 * 2
    assert {point.wrong_count for curve in found.collectives for point in curve.points} == {0}
    curves = {(curve.kind, curve.timing): curve for curve in found.collectives}
    reduced = curves[Collective.ALL_REDUCE, Timing.ISOLATED]
    assert [point.size_bytes for point in reduced.points] == [8, 16, 32, 64]
    # with two ranks 2 (2 - 1) / 2 is 1, and (2 - 1) / 2 of a gather is one half
    last = reduced.points[-1]
    assert [last.algbw_bytes_per_s, last.busbw_bytes_per_s] == pytest.approx([640, 640])
    gathered = curves[Collective.ALL_GATHER, Timing.PIPELINED].points[-1]
    assert [gathered.algbw_bytes_per_s, gathered.busbw_bytes_per_s] == pytest.approx([640, 320])


def test_what_is_lost_of_one_rank_is_told(fake: Fake) -> None:
    fake.set(loses_parts=1)
    found = measured(fake, "nccl")
    wrong = {curve.kind: curve.points[0].wrong_count for curve in found.collectives}
    # of 8 bytes an element is the second rank's, and neither rank gets it
    assert (wrong[Collective.ALL_GATHER], wrong[Collective.ALL_TO_ALL]) == (2, 0)


def test_wrong_sums_are_told(fake: Fake) -> None:
    fake.set(wrong_by=1)
    found = measured(fake, "nccl")
    reduced = next(curve for curve in found.collectives if curve.kind is Collective.ALL_REDUCE)
    # two elements on each of two ranks
    assert reduced.points[0].wrong_count == 4
    assert reduced.points[0].warnings == ("4 checked elements were wrong",)


def test_one_gpu_has_nobody_to_talk_to(fake: Fake) -> None:
    fake.set(devices=1)
    assert measured(fake, "nccl").waived == (Waived("collectives", "there is one GPU, and nobody to talk to"),)


def test_what_stands_beside_the_figures(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_ALGO", "Ring")
    monkeypatch.setenv("NCCL_HOSTID", "node17")
    monkeypatch.setenv("NCCL_TOPO_FILE", "/home/anna/topology.xml")
    found = measured(fake, "launches")
    gpu = found.gpus[0]
    assert len(found.gpus) == 2
    assert (gpu.capability, gpu.power_limit_w, gpu.has_ecc, gpu.is_mig, gpu.nvlink_count) == (
        "9.0",
        700,
        True,
        False,
        18,
    )
    assert found.gpus[0].uuid_hash != found.gpus[1].uuid_hash
    assert found.topology is not None
    assert found.topology.links == (("X", "NV"), ("NV", "X"))
    assert (found.driver_version, found.cuda_version) == ("580.65.06", "13.0")
    of_nccl = [found.environment[name] for name in ("NCCL_ALGO", "NCCL_HOSTID", "NCCL_TOPO_FILE")]
    assert of_nccl == ["Ring", None, None]
    assert all("/" not in (one.path or "") for one in found.libraries)
    assert {one.name: one.version for one in found.libraries}["NVRTC"] == "13.0"


def test_a_library_that_is_missing_waives_only_what_needs_it(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("NSYSAN_LIBNVRTC", "NSYSAN_LIBCUBLASLT", "NSYSAN_LIBNVML"):
        monkeypatch.setenv(variable, "/nowhere.so")
    found = measured(fake, "gemm", "launches", "links", effort=BRIEF)
    assert len(found.links) > 0
    reasons = {one.measurement: one.reason for one in found.waived}
    assert reasons["launches"] == "Calibration needs NVRTC (libnvrtc.so.13), which is not here."
    assert reasons["gemm"] == "Calibration needs cuBLASLt (libcublasLt.so.13), which is not here."
    assert reasons["conditions"] == "Calibration needs NVML (libnvidia-ml.so.1), which is not here."


def test_kernels_that_nvcc_made_need_no_nvrtc(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSYSAN_LIBNVRTC", "/nowhere.so")
    monkeypatch.setattr("nsysan.calibrate.bench.KERNELS", tmp_path)
    (tmp_path / "sm_90.cubin").write_bytes(b"code")
    found = measured(fake, "launches", effort=BRIEF)
    assert found.waived == ()
    assert len(found.launches) > 0
    assert "NVRTC" not in {one.name for one in found.libraries}


def test_nothing_is_left_of_a_calibration(fake: Fake) -> None:
    measured(fake, "launches", "memory", "nccl")
    assert fake.alive == []


def test_without_a_driver_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLES[0], "/nowhere.so")
    with pytest.raises(
        MissingToolError, match=r"needs the NVIDIA driver \(libcuda\.so\.1\), which is not here\."
    ) as why:
        calibrate(Bench(TINY), measurements(), force=False)
    assert why.value.exit_code == 3


def test_without_a_gpu_one_sentence_says_so(fake: Fake) -> None:
    fake.set(devices=0)
    with pytest.raises(MissingToolError, match="the driver finds none"):
        calibrate(Bench(TINY), measurements(), force=False)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"is_mig": 1}, "is divided (MIG): its figures are those of a part"),
        ({"processes": 3}, "2 other processes compute on NVIDIA H100 80GB HBM3 0000:01:00.0"),
        ({"reasons": 0x40}, "NVIDIA H100 80GB HBM3 0000:01:00.0 is held back: hw_thermal_slowdown"),
    ],
)
def test_what_speaks_against_measuring_is_refused_but_for_force(fake: Fake, told: dict[str, float], why: str) -> None:
    fake.set(devices=1, **told)
    with pytest.raises(UndecidableError, match=rf"would tell little: .*{re.escape(why)}"):
        measured(fake, "launches")
    found = measured(fake, "launches", force=True)
    assert found.forced
    assert found.warnings[0].endswith(why)


def test_a_power_cap_speaks_against_nothing(fake: Fake) -> None:
    fake.set(reasons=0x04)
    assert not measured(fake, "launches").forced


def test_an_unknown_measurement_is_refused() -> None:
    with pytest.raises(UsageError, match="no measurement 'network'") as refusal:
        measurements(["network"])
    assert refusal.value.hint == "Measurements: gemm, launches, links, memory, nccl."


def test_the_command_writes_a_file(fake: Fake, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fake.program(LAUNCH_NS)
    target = tmp_path / "ceilings.json"
    assert main(["calibrate", "--quick", "--only", "memory,launches", "-o", str(target)]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{target}\n"
    assert printed.err.startswith("Measuring takes about ")
    found = read_ceilings(target)
    assert (len(found.memory), len(found.launches), found.gemm) == (2, 4, ())
    assert main(["ceilings", "show", str(target)]) == 0
