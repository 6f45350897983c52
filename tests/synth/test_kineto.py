"""The Kineto trace of a simulated rank, line by line."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from nsysan.model.copies import CopyKind, MemoryKind
from nsysan.synth.generate import generate
from nsysan.synth.kineto import kineto_traces
from nsysan.synth.placement import Layout, placements
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import find_scenario
from nsysan.synth.simulation.engine import simulate
from nsysan.synth.simulation.program import Action, Launch, PlainCall, Pop, Push, Task, TaskKind, copy
from tests.synth.programs import PROMPT, all_reduce, launch

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


def written_events(tmp_path: Path, scenario: str, rank: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a rank's trace says of the groups it is in, and of its collectives."""
    request = Request(scenario=find_scenario(scenario), rank_count=4, step_count=2, file_format=FileFormat.KINETO)
    [trace] = [trace for name, trace in generate(request).exports.items() if f"rank{rank}" in name]
    document = json.loads(trace.write(tmp_path / "trace.json").read_text())
    events = document["traceEvents"]
    return document["distributedInfo"], [event["args"] for event in events if event["name"] == "record_param_comms"]


def test_a_rank_lists_the_groups_it_is_in(tmp_path: Path) -> None:
    distributed, recorded = written_events(tmp_path, "tensor_parallel", 1)

    groups = {
        group["pg_name"]: (group["pg_desc"], group["pg_size"], group["ranks"]) for group in distributed["pg_config"]
    }
    # by purpose and ranks: data (0, 2), data (1, 3), tensor (0, 1), tensor (2, 3)
    assert groups == {
        "0": ("default_pg", 4, [0, 1, 2, 3]),
        "2": ("data_parallel", 2, [1, 3]),
        "3": ("tensor_parallel", 2, [0, 1]),
    }
    assert distributed["pg_count"] == 3
    said = {(args["Collective name"], args["Process Group Name"], args["Process Group Ranks"]) for args in recorded}
    assert said == {
        ("allreduce", "3", "[0, 1]"),
        ("_reduce_scatter_base", "2", "[1, 3]"),
        ("_allgather_base", "2", "[1, 3]"),
    }


def test_an_all_to_all_tells_how_it_is_split(tmp_path: Path) -> None:
    _, recorded = written_events(tmp_path, "moe_skew", 1)

    dispatch, combine = [args for args in recorded if args["Collective name"] == "all_to_allv"][:2]
    # elements of 2 bytes in tokens of 8192: 12,288 tokens for rank 1, 6,826 for each other
    hot, cold = 12_288 * 8_192, 6_826 * 8_192
    assert (json.loads(dispatch["In split size"]), json.loads(dispatch["Out split size"])) == (
        [cold, hot, cold, cold],
        [hot] * 4,
    )
    assert (dispatch["In msg nelems"], dispatch["Out msg nelems"]) == (hot + 3 * cold, 4 * hot)
    assert (combine["In msg nelems"], combine["Out msg nelems"]) == (4 * hot, hot + 3 * cold)


def test_messages_are_said_one_by_one(tmp_path: Path) -> None:
    _, recorded = written_events(tmp_path, "pipeline_bubble", 1)

    # a second of four stages: two forwards in, two out, then it sends and receives in turn
    said = [(args["Collective name"], args.get("Dst Rank"), args.get("Src Rank")) for args in recorded[:6]]
    assert said == [
        ("recv", None, 0),
        ("send", 2, None),
        ("recv", None, 0),
        ("send", 2, None),
        ("recv", None, 0),
        ("send", 2, None),
    ]
    # a quarter of 16,384 tokens of 4,096 elements
    assert {args["In msg nelems"] for args in recorded if args["Process Group Name"] != "0"} == {4_096 * 4_096}


def test_a_root_has_the_whole_and_each_rank_a_part(tmp_path: Path) -> None:
    _, recorded = written_events(tmp_path, "rooted_collectives", 2)

    sizes = {args["Collective name"]: (args["In msg nelems"], args["Out msg nelems"]) for args in recorded}
    # 16 bytes a token and rank, 2 bytes an element
    assert sizes["scatter"] == (4 * 16 * 16_384 // 2, 16 * 16_384 // 2)
    assert sizes["gather"] == (1_000_000, 4_000_000)
    assert sizes["broadcast"] == (32_000_000, 32_000_000)
    assert sizes["reduce"] == (8_000_000, 8_000_000)
