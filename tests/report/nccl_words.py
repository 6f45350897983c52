"""Logs of NCCL and tests of nccl-tests to draw, made by hand."""

from __future__ import annotations

from nsysan.analysis.nccl_logs import (
    CommunicatorInLog,
    DirectUse,
    LinkUse,
    NcclLogs,
    NcclLogSummary,
    NetworkUse,
    TimingInLog,
)
from nsysan.analysis.nccl_tests import NcclTests, NcclTestSummary, SizeReached

LOG = NcclLogSummary(
    name="nccl.log",
    line_count=1000,
    warning_count=0,
    versions=("2.27.3+cuda12.9",),
    settings={"NCCL_IB_DISABLE": "1"},
    networks=(NetworkUse("IB", 2, (0, 1), ("host 1",), 20), NetworkUse("Socket", 1, (2,), ("host 2",), 30)),
    adapters={"RoCE": 8},
    links=(LinkUse("P2P/direct pointer", 128, 70), LinkUse("NET/Socket", 4, 80)),
    gpu_direct=DirectUse(512, 0, None),
    communicators=(CommunicatorInLog("0x00000000000013c3", 3, 2, 16, 16, (0, 1, 2)),),
    timings=(TimingInLog("all_reduce", "ring", 128, 2, 1 << 30, 3, 668_800_000, 3.2e9),),
    call_count=2_000,
    omitted_call_count=7,
    process_count=2,
    used_call_count=1_000,
)
NCCL_LOGS = NcclLogs((LOG,))
TEST = NcclTestSummary(
    name="table.txt",
    kind="all_reduce",
    kind_is_inferred=True,
    dtype="float",
    nccl_version="2.27.3",
    rank_count=16,
    nodes=2,
    gpu_names=("NVIDIA H100 80GB HBM3",),
    is_cpu_time=False,
    highest_busbw_bytes_per_s=338.82e9,
    sizes=(
        SizeReached(1 << 20, in_place=False, time_ns=203_200.0, algbw_bytes_per_s=5.16e9, busbw_bytes_per_s=9.68e9),
        SizeReached(
            1 << 33, in_place=True, time_ns=47_535_000.0, algbw_bytes_per_s=180.71e9, busbw_bytes_per_s=338.82e9
        ),
    ),
)
NCCL_TESTS = NcclTests((TEST,))
