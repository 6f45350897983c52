"""What other tools print, taken over: real outputs, as users have posted them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.model.ceilings import Algorithm, Ceilings, Direction, Dtype, HostMemory, LinkCeiling, Origin, Regime, Waived
from nsysan.model.errors import InputError, UsageError
from nsysan.model.kernels import Collective
from nsysan.pipeline.import_ceilings import import_ceilings

# NVIDIA/nvbandwidth issues 15 and 50, shortened
RTX_4090 = """nvbandwidth Version: v0.2
Built from Git version: 6cefdda

CUDA Runtime Version: 12030
CUDA Driver Version: 12030
Driver Version: 545.29.06

Device 0: NVIDIA GeForce RTX 4090
Device 1: NVIDIA GeForce RTX 4090

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
          0         1
0     25.50     24.26

SUM host_to_device_memcpy_ce 49.76

Running device_to_host_memcpy_ce.
memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)
          0         1
0     26.77     26.47

Running host_to_device_bidirectional_memcpy_ce.
memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)
          0         1
0     11.24     14.42
"""
PEERS = """nvbandwidth Version: v0.8

Driver Version: 580.95.05

Device 0: NVIDIA RTX A6000 (00000000:34:00)
Device 1: NVIDIA RTX A6000 (00000000:35:00)

Running device_to_device_memcpy_read_ce.
memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0       N/A     26.34
 1     26.35       N/A

Running device_to_device_memcpy_write_ce.
memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)
           0         1
 0       N/A     26.10
 1     26.60       N/A
"""
MAMF = (
    "** Dtype: torch.bfloat16\n"
    "_CudaDeviceProperties(name='NVIDIA H100 80GB HBM3', major=9, minor=0, multi_processor_count=132)\n"
    "     1 |  603.5(mean)  604.9(median)  610.3(max) @ 1024x1024x1024       | best:  603.5(mean)  TFLOPS\r"
    "     2 |  780.1(mean)  781.1(median)  785.0(max) @ 2048x2048x13312      | best:  780.1(mean)  TFLOPS\n"
    "Tried  2 shapes => the best outcomes were:\n"
    "mean:   780.1 TFLOPS @ 2048x2048x13312 (MxNxK)\n"
    "median: 781.1 TFLOPS @ 2048x2048x13312 (MxNxK)\n"
    "max:    785.0 TFLOPS @ 2048x2048x13312 (MxNxK)\n"
)


def imported(tmp_path: Path, *outputs: str, gpu: str | None = None) -> Ceilings:
    paths = []
    for number, output in enumerate(outputs):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_bytes(output.encode())
    return import_ceilings(paths, gpu)


def link(direction: Direction, gpu: int, peer: int | None, gb_per_s: float) -> LinkCeiling:
    return LinkCeiling(
        direction=direction,
        host_memory=HostMemory.PINNED if peer is None else None,
        gpu=gpu,
        peer=peer,
        size_bytes=512 << 20,
        bytes_per_s=gb_per_s * 1e9,
    )


def test_nvbandwidth_of_host_and_gpus(tmp_path: Path) -> None:
    found = imported(tmp_path, RTX_4090)
    assert (found.origin, found.source, found.driver_version) == (Origin.IMPORTED, "nvbandwidth v0.2", "545.29.06")
    assert [gpu.name for gpu in found.gpus] == ["NVIDIA GeForce RTX 4090"] * 2
    assert found.links == (
        link(Direction.HOST_TO_DEVICE, 0, None, 25.50),
        link(Direction.HOST_TO_DEVICE, 1, None, 24.26),
        link(Direction.DEVICE_TO_HOST, 0, None, 26.77),
        link(Direction.DEVICE_TO_HOST, 1, None, 26.47),
    )
    reason = "not taken over: it is no copy of the kind that programs make"
    assert found.waived == (Waived("host_to_device_bidirectional_memcpy_ce", reason),)


def test_nvbandwidth_between_gpus_takes_the_faster_of_reading_and_writing(tmp_path: Path) -> None:
    assert imported(tmp_path, PEERS).links == (
        link(Direction.PEER_TO_PEER, 0, 1, 26.34),
        link(Direction.PEER_TO_PEER, 1, 0, 26.60),
    )


def test_mamf_finder(tmp_path: Path) -> None:
    found = imported(tmp_path, MAMF)
    assert [gpu.name for gpu in found.gpus] == ["NVIDIA H100 80GB HBM3"]
    shapes = [(one.dtype, one.m, one.n, one.k, one.flop_per_s / 1e12) for one in found.gemm]
    assert shapes == [(Dtype.BF16, 1024, 1024, 1024, 604.9), (Dtype.BF16, 2048, 2048, 13312, 781.1)]
    assert {(one.regime, one.algorithm) for one in found.gemm} == {(Regime.SUSTAINED, Algorithm.HEURISTIC)}


def test_outputs_of_one_gpu_become_one_file(tmp_path: Path) -> None:
    links = RTX_4090.replace("GeForce RTX 4090", "H100 80GB HBM3")
    found = imported(tmp_path, MAMF, links)
    assert (len(found.gemm), len(found.links), found.source) == (2, 4, "mamf-finder; nvbandwidth v0.2")


def test_a_gpu_that_the_output_does_not_tell_is_asked_for(tmp_path: Path) -> None:
    unnamed = MAMF.replace("name=", "")
    with pytest.raises(UsageError, match="does not tell which GPU"):
        imported(tmp_path, unnamed)
    assert imported(tmp_path, unnamed, gpu="NVIDIA A100-SXM4-80GB").gpus[0].name == "NVIDIA A100-SXM4-80GB"


@pytest.mark.parametrize("output", ["", "hello\n", "\x00\xff", "| 1(mean) x(median)"])
def test_anything_else_is_refused(tmp_path: Path, output: str) -> None:
    with pytest.raises(InputError, match=r"0\.txt is no output of a benchmark that nsysan reads") as refusal:
        imported(tmp_path, output)
    assert refusal.value.hint.startswith("It reads those of: ")


def test_what_hides_in_an_output_is_made_visible(tmp_path: Path) -> None:
    found = imported(tmp_path, RTX_4090.replace("NVIDIA GeForce RTX 4090", "N\x1b[2J"))
    assert found.gpus[0].name == "N\\x1b[2J"


def test_the_published_run_of_nccl_tests_on_two_nodes() -> None:
    path = Path(__file__).parents[3].parent / "shared" / "evidence" / "nccl-tests-2x8-H100.txt"
    if not path.exists():
        pytest.skip("the published run is not at hand")
    found = import_ceilings([path], None)
    assert [gpu.name for gpu in found.gpus] == ["NVIDIA H100 80GB HBM3"]
    out, in_place = found.collectives
    assert (out.kind, out.rank_count, out.node_count, out.dtype) == (Collective.ALL_REDUCE, 16, 2, "fp32")
    assert (out.in_place, in_place.in_place, len(out.points), len(in_place.points)) == (False, True, 31, 31)
    # 8 GiB in 47535 us is 180.71 GB/s, and 2 x 15 / 16 of it 338.82
    assert out.points[-1].each_ns == pytest.approx(47_535_000)
    assert out.points[-1].algbw_bytes_per_s == pytest.approx(180.71e9, rel=1e-4)
    assert out.points[-1].busbw_bytes_per_s == pytest.approx(338.82e9, rel=1e-3)
