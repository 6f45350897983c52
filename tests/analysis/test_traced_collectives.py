"""Collectives in the advanced NCCL trace of nsys 2025.6 and later, from what is attached as JSON to its ranges."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nsysan.analysis.collectives import Collectives
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.export import Export
from tests.analysis.nccl_traces import ALL_GATHER, ALL_REDUCE, DOMAIN, MS
from tests.ingest.reading import edit
from tests.runs import result_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HASH = 0xD1373F8C6AC1BA54
OPERATIONS = ((MS + 60, "AllGather"), (MS + 61, "AllReduce"), (2 * MS + 60, "AllReduce"))


class Trace:
    """An export and what is attached to its ranges; each process' times are a microsecond later than the last one's."""

    def __init__(self) -> None:
        self.export = Export()
        self.attached: list[tuple[int, str]] = []
        self.pid = self.shift_ns = 0

    def begin(self, rank: int) -> None:
        self.pid, self.shift_ns = 100 + rank, 1000 * rank
        self.export.nvtx_domain(DOMAIN, "NCCL", pid=self.pid)

    def ranged(self, begin: int, end: int, name: str, told: Mapping[str, object]) -> None:
        self.export.nvtx(begin + self.shift_ns, end + self.shift_ns, name, pid=self.pid, domain=DOMAIN)
        self.attached.append((begin + self.shift_ns, json.dumps(told)))

    def launched(self, begin: int, name: str) -> None:
        call = (begin + self.shift_ns, begin + self.shift_ns + 50)
        self.export.call(*call, "cudaLaunchKernelExC_v11060", pid=self.pid, correlation=begin)
        self.export.kernel(begin + MS, begin + 2 * MS, name, pid=self.pid, stream=9, correlation=begin)


def traced(folder: Path, *, include_json: bool = True) -> Path:
    """Two processes with a GPU each: a group of an all-gather and an all-reduce, then an all-reduce."""
    trace = Trace()
    for rank in (0, 1):
        trace.begin(rank)
        call = {"rank": rank, "dataType": "ncclBfloat16"}
        trace.ranged(MS, MS + 300, "API Group", {"apiGroupId": 1})
        trace.ranged(MS + 10, MS + 20, "AllGather", {"count": 1024, "apiId": 5, **call})
        trace.ranged(MS + 30, MS + 40, "AllReduce", {"count": 64, "apiId": 6, **call})
        trace.ranged(MS + 50, MS + 290, "GroupLaunch", {"apiGroupId": 1})
        trace.ranged(2 * MS, 2 * MS + 300, "API Group", {"apiGroupId": 2})
        trace.ranged(2 * MS + 10, 2 * MS + 20, "AllReduce", {"count": 256, "apiId": 7, **call})
        # operations on the GPU are called as their calls are, and may lie anywhere
        for number, (begin, name) in enumerate(OPERATIONS):
            numbers = {"seqNumber": number, "apiId": 5 + number, "operationId": 70 + number}
            told = {"commHash": str(HASH), "commRank": rank, "count": 1, **call, **numbers}
            trace.ranged(begin, begin + 5, name, told)
        trace.launched(MS + 100, ALL_GATHER)
        trace.launched(2 * MS + 100, ALL_REDUCE)
    path = trace.export.write(folder / "a.sqlite")
    updates = (f"UPDATE NVTX_EVENTS SET jsonText = '{told}' WHERE start = {start}" for start, told in trace.attached)
    return edit(path, *(updates if include_json else ()))


def test_bytes_types_and_communicators(tmp_path: Path) -> None:
    found = result_of(analyze([traced(tmp_path)], AnalyzeOptions()), Collectives)

    # an all-gather of 1,024 elements of 2 bytes a rank with an all-reduce of 64 has no size of one of them; 256 * 2
    assert [(row.kind, row.communicator, row.dtype, row.bytes, row.count) for row in found.collectives] == [
        ("all_reduce", f"0x{HASH:016x}", "bfloat16", 512, 1),
        ("group(all_reduce, all_gather)", f"0x{HASH:016x}", "bfloat16", None, 1),
    ]
    assert [row.complete_count for row in found.collectives] == [1, 1]


def test_without_json_the_kernels_names_are_all_there_is(tmp_path: Path) -> None:
    found = result_of(analyze([traced(tmp_path, include_json=False)], AnalyzeOptions()), Collectives)

    assert sorted((row.kind, row.communicator, row.bytes) for row in found.collectives) == [
        ("all_gather", None, None),
        ("all_reduce", None, None),
    ]
