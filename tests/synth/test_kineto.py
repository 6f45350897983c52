"""The Kineto trace of a simulated rank, line by line."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING

from nsysan.model.copies import CopyKind, MemoryKind
from nsysan.synth.engine import simulate
from nsysan.synth.kineto import kineto_traces
from nsysan.synth.placement import Layout, placements
from nsysan.synth.program import Action, Launch, PlainCall, Pop, Push, Task, TaskKind, copy
from tests.synth.programs import PROMPT, all_reduce, launch

if TYPE_CHECKING:
    from pathlib import Path

COPY = Task(TaskKind.COPY, "", launch(1).task.activity, 300, 4_096, CopyKind.HOST_TO_DEVICE)


def test_every_record_is_an_event(tmp_path: Path) -> None:
    program = (
        Push("aten::mm, op_id = 1, sizes = [[2, 3], [3, 4]]"),
        launch(5_001, call_ns=1_000),
        Pop(),
        Push("step 0"),
        Launch("cudaMemcpyAsync_v3020", 500, 7, COPY),
        Pop(),
        all_reduce("gradients", 1, 2_000, stream_id=9),
    )
    places = placements("job", 1, Layout.PER_RANK, ".pt.trace.json")
    [(name, trace)] = kineto_traces(simulate([program], PROMPT), places).items()

    document = json.loads(trace.write(tmp_path / name).read_text(), parse_float=Decimal)

    assert name == "job-rank0.pt.trace.json"
    events = [event for event in document["traceEvents"] if event["ph"] == "X"]
    begin = Decimal(10**9)
    # the thread calls for 1 us, then 0.5 us; the stream runs 5.001 us from the first call's end, then the copy
    assert [(event["cat"], event["name"], event["ts"] - begin, event["dur"]) for event in events] == [
        ("cpu_op", "aten::mm", 0, 1),
        ("user_annotation", "step 0", 1, Decimal("0.5")),
        ("cuda_runtime", "cudaLaunchKernel", 0, 1),
        ("cuda_runtime", "cudaMemcpyAsync", 1, Decimal("0.5")),
        ("cuda_runtime", "cudaLaunchKernelExC", Decimal("1.5"), 0),
        ("kernel", "k", 1, Decimal("5.001")),
        ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", Decimal("6.001"), Decimal("0.3")),
        ("kernel", "nccl", Decimal("1.5"), 2),
        ("cpu_op", "record_param_comms", Decimal("1.5"), 0),
        ("Trace", "PyTorch Profiler (0)", 0, Decimal("6.301")),
    ]
    assert events[0]["args"] == {"Input Dims": [[2, 3], [3, 4]]}
    assert events[6]["args"] == {"device": 0, "context": 1, "stream": 7, "correlation": 2, "bytes": 4_096}
    assert (document["distributedInfo"]["rank"], document["distributedInfo"]["world_size"]) == (0, 1)


def test_calls_of_the_driver_and_pageable_memory_are_named(tmp_path: Path) -> None:
    pageable = copy(CopyKind.DEVICE_TO_HOST, 4_096, 300, MemoryKind.PAGEABLE)
    program: list[Action] = [PlainCall("cuLibraryLoadData", 100), Launch("cudaMemcpyAsync_v3020", 500, 7, pageable)]
    places = placements("job", 1, Layout.PER_RANK, ".pt.trace.json")
    [(name, trace)] = kineto_traces(simulate([program], PROMPT), places).items()

    document = json.loads(trace.write(tmp_path / name).read_text())

    assert [(event["cat"], event["name"]) for event in document["traceEvents"] if event["ph"] == "X"] == [
        ("cuda_driver", "cuLibraryLoadData"),
        ("cuda_runtime", "cudaMemcpyAsync"),
        ("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)"),
        ("Trace", "PyTorch Profiler (0)"),
    ]
