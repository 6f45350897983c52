"""Logs of NCCL: what each line tells, whatever launchers, terminals and other ranks put around it."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import pytest

from nsysan.hardware.bandwidth import bus_factor
from nsysan.ingest.nccl_log import calls
from nsysan.ingest.nccl_log.reading import read_nccl_log
from nsysan.model.kernels import Collective
from nsysan.model.nccl_log import (
    Adapter,
    AdapterSpeed,
    GpuDirect,
    LinkCount,
    LoggedCall,
    LoggedCommunicator,
    LoggedMember,
    LoggedNetwork,
    LoggedTiming,
    LogOrigin,
    NcclLog,
)

REAL = Path(__file__).parents[3] / "shared" / "evidence" / "nccl-info-8xA800-2.27.log"
COLL = (
    "AllReduce: opCount 139d sendbuff 0x78d056200000 recvbuff 0x78d056200000 count 7382228 datatype 7 op 0 root 0 "
    "comm 0x78cfda045840 [nranks=128] stream 0x78d07125e5e0"
)


def log_of(folder: Path, *lines: str) -> NcclLog:
    path = folder / "nccl.log"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return read_nccl_log(path, "nccl.log")


def call_line(host: str = "node0", pid: int = 7, tid: int = 8, name: str = "AllReduce", **told: object) -> str:
    values = {"op": "0", "count": 1, "dtype": 7, "root": 0, "comm": "0xa", "ranks": 2, **told}
    return (
        f"{host}:{pid}:{tid} [0] NCCL INFO {name}: opCount {values['op']} sendbuff 0x1 recvbuff (nil) "
        f"count {values['count']} datatype {values['dtype']} op 0 root {values['root']} comm {values['comm']} "
        f"[nranks={values['ranks']}] stream 0x5"
    )


def test_op_count_is_hexadecimal_and_the_type_a_number(tmp_path: Path) -> None:
    # C28: 7,382,228 elements of 4 bytes; over 128 ranks each sends and receives twice 127/128 of it
    log = log_of(tmp_path, f"worker:615:18953 [2] NCCL INFO {COLL}")

    [call] = log.calls
    assert call == LoggedCall(
        kind=Collective.ALL_REDUCE,
        is_sent=False,
        size_bytes=29_528_912,
        dtype="float32",
        root=None,
        peer=None,
        communicator=None,
        rank_count=128,
    )
    [thread] = log.threads
    assert (thread.host, thread.pid, thread.tid) == ("worker", 615, 18953)
    assert (thread.call.tolist(), thread.op_count.tolist()) == ([0], [5021])
    factor = bus_factor(Collective.ALL_REDUCE, call.rank_count)
    assert factor is not None
    assert (call.size_bytes or 0) * factor == 58_596_434.75


@pytest.mark.parametrize(
    ("number", "name", "size_bytes"),
    [
        (0, "int8", 1),
        (1, "uint8", 1),
        (6, "float16", 2),
        (7, "float32", 4),
        (9, "bfloat16", 2),
        (10, "float8_e4m3", 1),
        (11, "float8_e5m2", 1),
        (12, None, None),
    ],
)
def test_types_and_sizes(tmp_path: Path, number: int, name: str | None, size_bytes: int | None) -> None:
    [call] = log_of(tmp_path, call_line(dtype=number)).calls

    assert (call.dtype, call.size_bytes) == (name, size_bytes)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "(RayTrainWorker pid=615, ip=10.72.7.6) ",
        "[1,0]<stdout>:",
        "12: ",
        "[rank3]: ",
        "[2026-05-05 06:16:47] ",
        "\x1b[36m(worker-0)\x1b[0m ",
        "2026-05-05T06:16:47Z ",
        "7.3 %|########| ",
    ],
)
def test_what_launchers_put_before_a_line(tmp_path: Path, before: str) -> None:
    log = log_of(tmp_path, f"{before}node-1.cluster:615:18953 [2] NCCL INFO Using network IB")

    assert log.networks == (LoggedNetwork(LogOrigin("node-1.cluster", 615, 2), "IB", 1),)


def test_colours_inside_a_line_and_places_in_sources(tmp_path: Path) -> None:
    log = log_of(
        tmp_path,
        "node:1:2 [0] \x1b[32mNCCL INFO\x1b[0m Using network Socket",
        "[2026-05-05 06:16:47] node:1:2 [0] plugin/net.cc:353 NCCL WARN NET/OFI failed",
        "rocm-3:24888:25056 [1] 1558545003174220 NCCL INFO Using network IB",
    )

    assert [(one.origin.host, one.name, one.line) for one in log.networks] == [
        ("node", "Socket", 1),
        ("rocm-3", "IB", 3),
    ]
    assert log.warning_count == 1


def test_ranks_that_write_at_once(tmp_path: Path) -> None:
    first, second = call_line(pid=7), call_line(pid=9, count=3)

    log = log_of(tmp_path, call_line(pid=9, count=2), f"{first}{second}", "NCCL INFO without a prefix")

    assert {(one.host, one.pid): one.call.tolist() for one in log.threads} == {("node0", 9): [0, 2], ("node0", 7): [1]}
    assert [call.size_bytes for call in log.calls] == [8, 4, 12]
    assert log.line_count == 3


def test_messages_and_rooted_calls_have_the_other_end(tmp_path: Path) -> None:
    lines = (call_line(name="Send", root=3), call_line(name="Recv", root=1), call_line(name="Broadcast", root=1))

    calls = log_of(tmp_path, *lines).calls

    assert [(call.kind.value, call.is_sent, call.peer, call.root) for call in calls] == [
        ("send_recv", True, 3, None),
        ("send_recv", False, 1, None),
        ("broadcast", False, None, 1),
    ]


def test_communicators_with_their_ranks_rings_and_trees(tmp_path: Path) -> None:
    init = "ncclCommInitRankConfig comm 0xa rank {} nranks 2 cudaDev {} nvmlDev 0 busId 5 commId 0x13c - Init {}"
    split = "ncclCommSplit comm 0xb rank {} nranks 1 cudaDev 0 busId 5 parent 0xa splitCount 1 color {} key 0- Init {}"
    lines = [
        f"node{rank}:{7 + rank}:8 [{rank}] NCCL INFO {message}"
        for rank in (0, 1)
        for message in (
            init.format(rank, rank, "START"),
            f"comm 0xa rank {rank} nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0",
            "Channel 00/04 : 0 1" if not rank else "P2P Chunksize set to 131072",
            "Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1",
            "4 coll channels, 0 collnet channels, 0 nvls channels, 4 p2p channels, 2 p2p channels per peer",
            init.format(rank, rank, "COMPLETE"),
            split.format(0, rank, "START"),
            split.format(0, rank, "COMPLETE"),
            call_line(comm="0xb", ranks=1).partition("NCCL INFO ")[2],
        )
    ]

    log = log_of(tmp_path, *lines)

    members = tuple(LoggedMember(LogOrigin(f"node{rank}", 7 + rank, rank), rank) for rank in (0, 1))
    whole = LoggedCommunicator("0x000000000000013c", 2, 2, 4, 2, (0, 1), members)
    halves = [
        LoggedCommunicator(
            f"0x000000000000013c/1/{rank}", 1, None, None, None, (), (LoggedMember(members[rank].origin, 0),)
        )
        for rank in (0, 1)
    ]
    assert log.communicators == (whole, *halves)
    assert [call.communicator for call in log.calls] == ["0x000000000000013c/1/0", "0x000000000000013c/1/1"]


def test_older_releases_tell_the_communicator_at_its_end(tmp_path: Path) -> None:
    log = log_of(
        tmp_path,
        "server2:1:2 [7] NCCL INFO Channel 00/02 : 0 1",
        "server2:1:2 [7] NCCL INFO comm 0x7f5 rank 0 nranks 2 cudaDev 7 nvmlDev 7 - Init COMPLETE",
        "server2:3:4 [6] NCCL INFO comm 0x7f5 rank 1 nranks 2 cudaDev 6 nvmlDev 6 - Init COMPLETE",
    )

    [found] = log.communicators
    assert (found.name, found.size, found.ring, found.channel_count) == (None, 2, (0, 1), 2)
    assert [member.rank for member in found.members] == [0, 1]


def test_networks_links_and_gpu_direct(tmp_path: Path) -> None:
    # C30: one rank uses IB, the other fell back to sockets
    log = log_of(
        tmp_path,
        "a:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>",
        "a:1:2 [0] NCCL INFO Using network IB",
        "b:3:4 [0] NCCL INFO NET/IB : No device found.",
        "b:3:4 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.2<0>",
        "b:3:4 [0] NCCL INFO Using network Socket",
        "b:3:4 [0] NCCL INFO Using network Socket",
        "a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0(1)/GDRDMA",
        "a:1:2 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/1/GDRDMA",
        "a:1:2 [0] NCCL INFO Channel 00 : 1[1a000] -> 0[1b000] via P2P/IPC",
        "a:1:2 [0] NCCL INFO GPU Direct RDMA Enabled for GPU 0 / HCA 0 (distance 4 <= 5), read 0 mode Default",
        "b:3:4 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 2 / HCA 0 (distance 9 > 4)",
        "b:3:4 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.",
    )

    assert log.networks == (
        LoggedNetwork(LogOrigin("a", 1, 0), "IB", 2),
        LoggedNetwork(LogOrigin("b", 3, 0), "Socket", 5),
    )
    assert log.adapters == (
        Adapter("a", "mlx5_0", "IB"),
        Adapter("a", "mlx5_1", "RoCE"),
        Adapter("b", "eth0", "Socket"),
    )
    assert log.links == (LinkCount("NET/IB/GDRDMA", 2, 7), LinkCount("P2P/IPC", 1, 9))
    assert log.gpu_direct == (GpuDirect("a", 1, 0, None), GpuDirect("b", 0, 1, 11))
    assert log.settings == {"NCCL_IB_DISABLE": "1"}


def test_how_fast_adapters_are(tmp_path: Path) -> None:
    log = log_of(
        tmp_path,
        "a:1:2 [0] NCCL INFO NET/IB: [0] mlx5_0:uverbs0:1/RoCE provider=Mlx5 speed=25000 context=0x5 ar=0",
        "a:1:2 [0] NCCL INFO NET/IB: [1] mlx5_1:uverbs1:1/RoCE provider=Mlx5 speed=25000 context=0x6 ar=0",
        "a:1:3 [1] NCCL INFO NET/IB: [0] mlx5_0:uverbs0:1/RoCE provider=Mlx5 speed=25000 context=0x5 ar=0",
        "b:3:4 [0] NCCL INFO + NET[12.5] - NET/0 (b8599f0003b2c4ae/1/12.500000)",
        "b:3:4 [0] NCCL INFO + NET[12.5] - NET/0 (no speed)",
    )

    assert log.adapter_speeds == (
        AdapterSpeed("a", "mlx5_0", 3.125e9, 1),
        AdapterSpeed("a", "mlx5_1", 3.125e9, 2),
        AdapterSpeed("b", "NET/0", 12.5e9, 4),
    )


@pytest.mark.parametrize(
    ("words", "link_bytes_per_s"),
    [("over 25 Gb/s Ethernet", 3.125e9), ("on 100GbE", 12.5e9), ("at 200 Gbit/s", 25e9), ("of 25 GB/s", None)],
)
def test_the_link_that_a_timing_names(tmp_path: Path, words: str, link_bytes_per_s: float | None) -> None:
    [found] = log_of(tmp_path, f"AllReduce 2 nodes elapsed 12 ms BusBW 3.2 GB/s {words}").timings

    assert (found.busbw_bytes_per_s, found.link_bytes_per_s) == (3.2e9, link_bytes_per_s)


@pytest.mark.parametrize(
    ("line", "timing"),
    [
        (
            "AllReduce ring 128 ranks 2 nodes size 1073741824 elapsed 668.8 ms BusBW 3.2 GB/s",
            ("all_reduce", "ring", 128, 2, 1_073_741_824, 668_800_000, 3.2e9),
        ),
        (
            "node:1:2 [0] NCCL INFO AllGather: nranks=8 bytes=4194304 elapsed=112.5us, BusBW=65.5GB/s",
            ("all_gather", None, 8, None, 4_194_304, 112_500, 65.5e9),
        ),
        (
            "[rank0] reduce_scatter elapsed_time(ms): 2 busbw(GB/s): 22",
            ("reduce_scatter", None, None, None, None, 2_000_000, 22e9),
        ),
    ],
)
def test_what_a_program_timed_itself(tmp_path: Path, line: str, timing: tuple[object, ...]) -> None:
    [found] = log_of(tmp_path, "something else", line).timings

    kind, algorithm, rank_count, node_count, size_bytes, elapsed_ns, rate = timing
    assert isinstance(elapsed_ns, int)
    assert isinstance(rate, float)
    expected = LoggedTiming(
        kind=Collective(kind),
        algorithm=None if algorithm is None else str(algorithm),
        rank_count=rank_count if isinstance(rank_count, int) else None,
        node_count=node_count if isinstance(node_count, int) else None,
        size_bytes=size_bytes if isinstance(size_bytes, int) else None,
        elapsed_ns=elapsed_ns,
        busbw_bytes_per_s=rate,
        line=2,
    )
    assert found == expected


@pytest.mark.parametrize(
    "line",
    [
        "AllReduce elapsed 12 BusBW 3.2 GB/s",  # of no unit
        "elapsed 12 ms BusBW 3.2 GB/s",  # of no collective
        "#       size count type redop root time algbw busbw #wrong",
        "AllReduce BusBW 3.2 GB/s",
    ],
)
def test_a_line_that_tells_no_timing(tmp_path: Path, line: str) -> None:
    assert log_of(tmp_path, line).timings == ()


@pytest.mark.parametrize(
    "line",
    [
        "node0:7:8 [0] NCCL INFO AllReduce: opCount zz sendbuff",
        call_line(name="Unheard"),
        "NCCL INFO " + COLL,
        "node0:7:8 [0] NCCL INFO " + "x" * 3_000_000,
        "node0:7:8 [0] NCCL INFO comm 0xa rank 9 nranks 2 cudaDev 0 - Init COMPLETE",
        "\x00\xff NCCL \x1b[",
    ],
)
def test_what_is_damaged_tells_nothing(tmp_path: Path, line: str) -> None:
    log = log_of(tmp_path, line)

    assert (log.calls, log.threads, log.communicators, log.timings) == ((), (), (), ())


def test_memory_grows_with_what_differs_not_with_the_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "nccl.log"
    path.write_bytes(b"".join(f"{call_line(op=f'{place:x}')}\n".encode() for place in range(20_000)))
    gc.collect()
    tracemalloc.start()
    log = read_nccl_log(path, "nccl.log")
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    # 20,000 calls of 12 bytes, twice while they are copied, of a log of 2.6 MB
    assert path.stat().st_size > 2_500_000
    assert peak_bytes < 1_000_000
    assert (len(log.calls), len(log.threads[0].call)) == (1, 20_000)

    monkeypatch.setattr(calls, "MOST_CALLS", 100)
    assert read_nccl_log(path, "nccl.log").omitted_call_count == 19_900


@pytest.mark.skipif(not REAL.exists(), reason="the shared evidence is not beside this checkout")
def test_a_real_log() -> None:
    log = read_nccl_log(REAL, REAL.name)

    assert log.versions == ("2.27.3+cuda12.9",)
    assert {(one.origin.host, one.name) for one in log.networks} == {("node0", "IB")}
    assert len(log.networks) == 8
    assert {adapter.link for adapter in log.adapters} == {"RoCE"}
    assert log.links == (LinkCount("P2P/direct pointer/read", 128, 1458),)
    assert log.gpu_direct == (GpuDirect("node0", 512, 0, None),)
    [found] = log.communicators
    assert (found.name, found.size, found.node_count) == ("0x13c34b2638bd11fd", 8, 1)
    assert (found.channel_count, found.tree_count, found.ring) == (16, 16, tuple(range(8)))
    assert [(member.rank, member.origin.device_id) for member in found.members] == [(rank, rank) for rank in range(8)]
    assert (log.calls, log.warning_count, log.line_count) == ((), 0, 1634)
