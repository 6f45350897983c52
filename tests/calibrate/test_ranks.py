"""Where launchers put a process, and processes that meet over loopback."""

from __future__ import annotations

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from nsysan.calibrate.libraries import NCCL, candidates
from nsysan.calibrate.machine import topology_hash
from nsysan.calibrate.ranks import ONE_PROCESS, Place, first_node, local_ranks, meet, place_of
from nsysan.model.errors import MissingToolError, UsageError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({}, None),
        ({"RANK": "0", "WORLD_SIZE": "1"}, None),
        (
            {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "MASTER_ADDR": "node0", "MASTER_PORT": "29500"},
            Place(3, 4, 1, "node0", 29411),
        ),
        (
            {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "0"},
            Place(2, 4, 0, "127.0.0.1", 29411),
        ),
        (
            {
                "SLURM_PROCID": "9",
                "SLURM_NTASKS": "16",
                "SLURM_LOCALID": "1",
                "SLURM_LAUNCH_NODE_IPADDR": "10.0.0.1",
                "SLURM_JOB_NODELIST": "gpu[003-010]",
            },
            # srun may be called where no rank is: the first rank is on the first node
            Place(9, 16, 1, "gpu003", 29411),
        ),
        ({"PMI_RANK": "1", "PMI_SIZE": "2", "NSYSAN_PORT": "40000"}, Place(1, 2, None, "127.0.0.1", 40000)),
        # srun --mpi=pmi2
        (
            {"PMI_RANK": "5", "PMI_SIZE": "8", "SLURM_PROCID": "5", "SLURM_NTASKS": "8", "SLURM_LOCALID": "1"},
            Place(5, 8, 1, "127.0.0.1", 29411),
        ),
    ],
)
def test_what_launchers_say(environment: dict[str, str], place: Place | None) -> None:
    assert place_of(environment) == place


@pytest.mark.parametrize(
    "environment",
    [{"RANK": "4", "WORLD_SIZE": "4"}, {"RANK": "one", "WORLD_SIZE": "4"}, {"RANK": "", "WORLD_SIZE": "2"}],
)
def test_nonsense_is_refused(environment: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        place_of(environment)


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("gpu7", "gpu7"),
        ("gpu7,gpu9", "gpu7"),
        ("gpu[003-010,12],login", "gpu003"),
        ("gpu[12,14-16]", "gpu12"),
        ("rack[1-2]n[03-04]", "rack1n03"),
        ("a[1-2].example.org,b1", "a1.example.org"),
    ],
)
def test_the_first_of_slurms_nodes(nodes: str, first: str) -> None:
    assert first_node(nodes) == first


def test_local_ranks_follow_from_machines() -> None:
    assert local_ranks(["a", "a", "b", "b", "a"]) == [0, 1, 0, 1, 2]


def free_port() -> int:
    with socket.create_server(("", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def test_all_hear_what_all_say_whoever_comes_first() -> None:
    port = free_port()

    def run(rank: int) -> list[object]:
        ranks = meet(Place(rank, 4, rank, "127.0.0.1", port), 20)
        try:
            return [ranks.share({"rank": rank}), ranks.share(rank * rank)]
        finally:
            ranks.close()

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(run, [3, 1, 2, 0]))
    assert answers == [[[{"rank": rank} for rank in range(4)], [0, 1, 4, 9]]] * 4


def test_where_nobody_tells_the_rank_on_a_machine_the_machines_do() -> None:
    port = free_port()

    def run(rank: int) -> tuple[int, int, tuple[int, ...]]:
        ranks = meet(Place(rank, 3, None, "127.0.0.1", port), 20)
        ranks.close()
        return ranks.local_rank, ranks.node_count, ranks.neighbours

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(run, range(3))) == [(rank, 1, (0, 1, 2)) for rank in range(3)]


def test_when_one_leaves_all_others_hear_of_it() -> None:
    port = free_port()

    def run(rank: int) -> str:
        ranks = meet(Place(rank, 3, rank, "127.0.0.1", port), 20)
        if rank == 2:
            ranks.close()
            return "left"
        with pytest.raises(MissingToolError) as why:
            ranks.share(rank)
        return why.value.message

    with ThreadPoolExecutor(3) as pool:
        said = list(pool.map(run, range(3)))
    assert said == [*(f"Rank {rank} lost the others: another rank has left." for rank in range(2)), "left"]


def test_strangers_are_sent_away() -> None:
    port = free_port()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(meet, Place(0, 2, 0, "127.0.0.1", port), 20)
        for data in (
            b"GET / HTTP/1.1\n",
            b'{"rank": 7, "count": 2}\n',
            b'{"rank": 1, "count": 3}\n',
            b"[" * 5000 + b"\n",
        ):
            while True:
                try:
                    stranger = socket.create_connection(("127.0.0.1", port), timeout=5)
                    break
                except OSError:
                    continue
            with stranger:
                stranger.sendall(data)
                assert stranger.recv(10) == b""
        other = meet(Place(1, 2, 1, "127.0.0.1", port), 20)
        shared = pool.submit(first.result().share, "a")
        assert (other.share("b"), shared.result()) == (["a", "b"], ["a", "b"])
        first.result().close()
        other.close()


def test_who_does_not_come_is_told() -> None:
    with pytest.raises(MissingToolError, match=r"Rank 0 of 2 could not meet the others at 127\.0\.0\.1") as why:
        meet(Place(0, 2, 0, "127.0.0.1", free_port()), 0.05)
    assert "MASTER_ADDR" in why.value.hint
    assert ONE_PROCESS.share(1) == [1]


@pytest.mark.cuda
def test_ranks_get_one_id_of_the_real_nccl() -> None:
    """Four processes, over loopback; needs NCCL, of which the first rank asks an id without any GPU."""
    if find_spec("nsysan.calibrate._native") is None:
        pytest.skip("the compiled module is not here")
    from nsysan.calibrate import _native

    try:
        path = next(path for path in candidates(NCCL) if Path(path).is_file())
        _native.Nccl(path)
    except (StopIteration, _native.MissingLibraryError):
        pytest.skip("NCCL is not here: pip install nvidia-nccl-cu12, or name it with NSYSAN_LIBNCCL")
    program = (
        "import sys; from nsysan.calibrate import _native; from nsysan.calibrate.ranks import current_ranks\n"
        "ranks = current_ranks(); nccl = _native.Nccl(sys.argv[1])\n"
        "own = nccl.unique_id().hex() if ranks.rank == 0 else None\n"
        "print(ranks.share(own)[0]); ranks.close()"
    )
    shared = {"WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "NSYSAN_PORT": str(free_port()), "PYTHONPATH": str(ROOT)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, path],
            env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in (3, 1, 2, 0)
    ]
    ids = {process.communicate(timeout=60)[0].strip() for process in started}
    assert len(ids) == 1
    assert len(bytes.fromhex(ids.pop())) == 128


def test_a_topology_is_one_whatever_the_order_of_its_gpus() -> None:
    links = [["X", "NV", "SYS"], ["NV", "X", "SYS"], ["SYS", "SYS", "X"]]
    moved = [["X", "SYS", "SYS"], ["SYS", "X", "NV"], ["SYS", "NV", "X"]]
    other = [["X", "NV", "SYS"], ["NV", "X", "NV"], ["SYS", "NV", "X"]]
    assert topology_hash(links) == topology_hash(moved)
    assert topology_hash(links) != topology_hash(other)
