"""A sweep of collectives by several processes, as launchers start them; their fake NCCLs meet each other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nsysan.hardware.ceilings_json import read_ceilings
from nsysan.model.ceilings import Ceilings, Mode, Timing
from nsysan.model.kernels import Collective
from tests.calibrate.fakes import VARIABLES, Fake
from tests.calibrate.test_ranks import ROOT, free_port

pytestmark = pytest.mark.native

RANKS = 4
LATENCY_NS, EARLY_NS = 10e6, 1e6
BYTES_PER_S = 25_600
"""256 bytes in 10 ms: half way of the sizes, time begins to grow with size."""

INHERITED = ("PATH", "LD_PRELOAD", "PYTHONMALLOC", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS")

PROGRAM = """
import sys
from nsysan.calibrate import sampling
from nsysan.calibrate.measurements import collectives
from nsysan.cli.main import main
from tests.calibrate.fakes import Fake

path, target, failing, *settings = sys.argv[1:]
collectives._LARGEST_BYTES = 1024
sampling._LIMIT_MS = 300
fake = Fake(path)
fake.set(**{name: float(value) for name, _, value in (one.partition("=") for one in settings)})
fake.fail_in(failing)
code = main(["calibrate", "--only", "nccl", "-q", "-o", target])
print("\\n".join(fake.faults + fake.alive))
sys.exit(code)
"""


def torchrun(rank: int, port: int) -> dict[str, str]:
    """All on one node; torchrun's own store has MASTER_PORT."""
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(RANKS),
        "LOCAL_RANK": str(rank),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": "29500",
        "NSYSAN_PORT": str(port),
    }


def srun(rank: int, port: int) -> dict[str, str]:
    """Two on each of two nodes."""
    return {
        "SLURM_PROCID": str(rank),
        "SLURM_NTASKS": str(RANKS),
        "SLURM_LOCALID": str(rank % 2),
        "SLURM_STEP_NODELIST": "localhost,node2",
        "NSYSAN_PORT": str(port),
    }


def mpirun(rank: int, port: int) -> dict[str, str]:
    """Two on each of two nodes."""
    return {
        "OMPI_COMM_WORLD_RANK": str(rank),
        "OMPI_COMM_WORLD_SIZE": str(RANKS),
        "OMPI_COMM_WORLD_LOCAL_RANK": str(rank % 2),
        "NSYSAN_PORT": str(port),
    }


Launcher = Callable[[int, int], dict[str, str]]
Settings = Callable[[int], dict[str, float]]


def early_ones_wait(rank: int) -> dict[str, float]:
    """All ranks but the last come early, by 1 ms more each."""
    return {
        "devices": RANKS,
        "first_uuid": 1 + 8 * (rank // 2),
        "latency_ns": LATENCY_NS,
        "bytes_per_s": BYTES_PER_S,
        "early_by_ns": EARLY_NS * (RANKS - 1 - rank),
    }


def run(
    fake: Fake, folder: Path, launcher: Launcher, settings: Settings, failing: str = ""
) -> list[tuple[int, str, str]]:
    """Exit code, what is printed and what is said by each rank; they are started in another order than theirs.

    The third rank fails in calls named ``failing``.
    """
    port = free_port()
    inherited = {
        name: os.environ[name] for name in ("PATH", "HOME", "LD_PRELOAD", "ASAN_OPTIONS") if name in os.environ
    }
    libraries = dict.fromkeys(VARIABLES, fake.path)
    started = {
        rank: subprocess.Popen(
            [
                sys.executable,
                "-c",
                PROGRAM,
                fake.path,
                str(folder / "ceilings.json"),
                failing if rank == 2 else "",
                *(f"{name}={value}" for name, value in settings(rank).items()),
            ],
            env={**inherited, **libraries, "PYTHONPATH": str(ROOT), **launcher(rank, port)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (2, 3, 1, 0)
    }
    said = {rank: process.communicate(timeout=120) for rank, process in started.items()}
    return [(started[rank].returncode, *said[rank]) for rank in range(RANKS)]


def measured(fake: Fake, folder: Path, launcher: Launcher, settings: Settings = early_ones_wait) -> Ceilings:
    """What the first rank wrote, where all ended well."""
    path = folder / "ceilings.json"
    assert run(fake, folder, launcher, settings) == [
        (0, f"{path}\n\n" if rank == 0 else "\n", "") for rank in range(RANKS)
    ]
    return read_ceilings(path)


@pytest.mark.parametrize(("launcher", "nodes"), [(torchrun, 1), (srun, 2), (mpirun, 2)])
def test_curves_are_the_programmed_times(fake: Fake, tmp_path: Path, launcher: Launcher, nodes: int) -> None:
    found = measured(fake, tmp_path, launcher)

    assert (found.waived, len(found.collectives)) == ((), 7 * 2)
    told = {(one.rank_count, one.node_count, one.mode) for one in found.collectives}
    assert told == {(RANKS, nodes, Mode.PROCESS_PER_GPU)}
    # of all GPUs of the machine, though the first process has one
    assert found.topology is not None
    assert len(found.topology.links) == RANKS
    for curve in found.collectives:
        sizes = [point.size_bytes for point in curve.points]
        assert {16, 32, 64, 128, 256, 512, 1024} <= set(sizes)
        is_sum_of_ends = curve.kind in {Collective.BROADCAST, Collective.REDUCE, Collective.SEND_RECV}
        # the last to come waits for nobody, and its time is that of the transfer; queued calls tell only the longest
        waited_ns = 0.0 if curve.timing is Timing.ISOLATED and not is_sum_of_ends else EARLY_NS * (RANKS - 1)
        parts = RANKS if curve.kind is Collective.ALL_GATHER else 1
        assert [point.each_ns for point in curve.points] == pytest.approx(
            [LATENCY_NS + size / parts / BYTES_PER_S * 1e9 + waited_ns for size in sizes], rel=1e-6
        )
        assert {point.wrong_count for point in curve.points} == {0}


def test_what_one_rank_gets_wrong_is_told_by_the_first(fake: Fake, tmp_path: Path) -> None:
    found = measured(fake, tmp_path, torchrun, lambda rank: {**early_ones_wait(rank), "wrong_by": float(rank == 3)})
    reduced = next(curve for curve in found.collectives if curve.kind is Collective.ALL_REDUCE)
    # two elements of 8 bytes, on one of the ranks
    assert (reduced.points[0].size_bytes, reduced.points[0].wrong_count) == (8, 2)


def test_ranks_of_one_gpu_are_refused(fake: Fake, tmp_path: Path) -> None:
    found = measured(fake, tmp_path, torchrun, lambda rank: {**early_ones_wait(rank), "devices": 2, "first_uuid": 1})
    (waived,) = found.waived
    assert (waived.measurement, waived.reason) == ("collectives", "Ranks 0 and 2 have the same GPU.")


@pytest.mark.parametrize(
    ("failing", "reason"),
    [
        ("ncclGetVersion", "Not every rank can take part: rank 2: ncclGetVersion failed with 1: made to fail"),
        ("ncclCommInitRank", "the GPU did not finish within 300 ms"),
        ("ncclReduce", "the GPU did not finish within 300 ms"),
        ("cuMemGetInfo", "Rank 0 lost the others: another rank has left."),
    ],
)
def test_a_rank_that_fails_ends_the_sweep_of_all(fake: Fake, tmp_path: Path, failing: str, reason: str) -> None:
    """Wherever the third rank fails, every rank ends, and the file says why."""
    ended = run(fake, tmp_path, torchrun, early_ones_wait, failing)

    assert [code for code, _, _ in ended] == [0] * RANKS
    assert not any("Traceback" in said or "FAULT" in printed for _, printed, said in ended)
    (waived,) = read_ceilings(tmp_path / "ceilings.json").waived
    assert (waived.measurement, waived.reason) == ("collectives", reason)
