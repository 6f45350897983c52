"""Two real ranks of PyTorch's profiler: the partition against sweeps straight from the JSON, exact to the nanosecond.

What is swept is what HTA reports (time of computation, overlap of communication with it, idle), without its rounding
of every start up and every end down to whole microseconds.
"""

from __future__ import annotations

import gzip
import itertools
import json
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nsysan.analysis.copy_summary import CopySummary
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.kernel_summary import KernelSummary
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.run_json import encode_run, run_schema
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.pipeline.result_types import result_types
from nsysan.report.renderers import renderers
from tests.ingest.reading import rows
from tests.runs import result_of

EVIDENCE = Path(__file__).parents[3] / "shared" / "evidence"
RANKS = [EVIDENCE / f"torch-megatron-tp2-rank{rank}.pt.trace.json.gz" for rank in (0, 1)]

pytestmark = pytest.mark.skipif(not RANKS[0].exists(), reason="the shared real traces are not beside this checkout")

each_rank = pytest.mark.parametrize("path", RANKS, ids=["rank0", "rank1"])

Span = tuple[int, int]


@dataclass(frozen=True)
class Swept:
    """Times of one GPU, and its window from the earliest event of the trace."""

    window_ns: Span
    compute_ns: int
    communication_ns: int
    overlap_ns: int
    idle_ns: int
    kernel_count: int


def _events(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path) as file:
        events: list[dict[str, Any]] = json.load(file, parse_float=Decimal)["traceEvents"]
    return events


def _spans(events: list[dict[str, Any]], start_ns: int) -> list[Span]:
    starts = [int(event["ts"] * 1000) - start_ns for event in events]
    return [(start, start + int(event["dur"] * 1000)) for start, event in zip(starts, events, strict=True)]


def _swept(path: Path) -> Swept:
    """Cut time at every begin and end; each piece is in a set if any interval of the set covers it."""
    events = _events(path)
    origin_ns = min(int(event["ts"] * 1000) for event in events if event["ph"] != "M")
    kernels = [event for event in events if event.get("cat") == "kernel"]
    communication = _spans([kernel for kernel in kernels if "nccl" in kernel["name"]], origin_ns)
    compute = _spans([kernel for kernel in kernels if "nccl" not in kernel["name"]], origin_ns)
    memory = _spans([event for event in events if event.get("cat") in {"gpu_memcpy", "gpu_memset"}], origin_ns)
    cuts = sorted({time for span in (*communication, *compute, *memory) for time in span})
    totals: Counter[str] = Counter()
    for begin, end in itertools.pairwise(cuts):
        computes, communicates, copies = (
            any(start <= begin and end <= stop for start, stop in spans) for spans in (compute, communication, memory)
        )
        totals["compute"] += (end - begin) * computes
        totals["communication"] += (end - begin) * communicates
        totals["overlap"] += (end - begin) * (computes and communicates)
        totals["idle"] += (end - begin) * (not (computes or communicates or copies))
    return Swept(
        (cuts[0], cuts[-1]),
        totals["compute"],
        totals["communication"],
        totals["overlap"],
        totals["idle"],
        len(kernels),
    )


@each_rank
def test_the_partition_is_that_of_the_json(path: Path) -> None:
    run = analyze([path], AnalyzeOptions())

    [gpu] = result_of(run, GpuTime).gpus
    kernels = result_of(run, KernelSummary).kernels
    found = Swept(
        window_ns=(gpu.window_start_ns, gpu.window_end_ns),
        compute_ns=gpu.time.compute_only_ns + gpu.time.overlapped_ns,
        # no copy hides communication here: a copy counts only where nothing else runs
        communication_ns=gpu.time.overlapped_ns + gpu.time.exposed_communication_ns,
        overlap_ns=gpu.time.overlapped_ns,
        idle_ns=gpu.time.idle_ns,
        kernel_count=sum(kernel.count for kernel in kernels),
    )
    assert found == _swept(path)


# What HTA 0.5.0 prints with HTA_DISABLE_NS_ROUNDING=1, in us: get_temporal_breakdown (idle, compute, all other
# kernels and copies, window), and comp_comm_overlap_pctg of get_comm_comp_overlap. Its floats err by less than a ns.
HTA = [
    (59_931.574504, 1_085.518, 248.313656, 61_265.406160, 38.9),
    (9_152.411809, 840.567, 48_330.647000, 58_323.625809, 0.3),
]


def test_hta_finds_the_same_without_its_rounding() -> None:
    times = [gpu.time for gpu in result_of(analyze(RANKS, AnalyzeOptions()), GpuTime).gpus]

    for time, (idle_us, compute_us, other_us, window_us, overlap_percent) in zip(times, HTA, strict=True):
        communication_ns = time.overlapped_ns + time.exposed_communication_ns
        found = (
            time.idle_ns,
            time.compute_only_ns + time.overlapped_ns,
            time.exposed_communication_ns + time.exposed_copy_ns,
            time.window_ns,
        )
        assert found == pytest.approx([us * 1000 for us in (idle_us, compute_us, other_us, window_us)], abs=1)
        assert round(time.overlapped_ns / communication_ns * 100, 2) == overlap_percent


def test_both_ranks_make_a_run_that_knows_them() -> None:
    run = analyze(RANKS, AnalyzeOptions())

    document = json.loads(encode_run(run))
    jsonschema.validate(document, run_schema(result_types()))
    assert [(report["reader"], report["rank"], report["world_size"]) for report in document["reports"]] == [
        ("torch_profile", 0, 2),
        ("torch_profile", 1, 2),
    ]
    # the earliest events, which stand at these microseconds of the traces, up to how far ends of collectives differ
    session_offset_ns = 4_212_936_043_294_197 - 4_212_936_054_935_310
    assert run.reports[1].clock_offset_ns == pytest.approx(session_offset_ns, abs=5_000)
    assert {gpu.name for gpu in result_of(run, GpuTime).gpus} == {"Tesla V100-PCIE-32GB"}
    assert [(device.pid, device.device_id) for device in result_of(run, GpuTime).devices] == [(1375, 0), (1376, 1)]
    assert not run.reports[0].unreadable_records
    assert [note.id for note in run.notes] == ["gpus_not_matched"]
    assert "in a trace viewer" in renderers()["text"].render(run)
    # "Memcpy DtoD", "DtoH" and "HtoD" of both ranks, counted with grep
    assert sum(row.count for row in result_of(run, CopySummary).copies) == 2 * 28


def _held_ns(path: Path) -> int:
    """The idle time of each gap later than 20 us after the call that launched what ends it had returned."""
    events = _events(path)
    calls = [event for event in events if event.get("cat") in {"cuda_runtime", "cuda_driver"}]
    work = [event for event in events if event.get("cat") in {"kernel", "gpu_memcpy", "gpu_memset"}]
    work.sort(key=lambda event: event["ts"])
    called = [event["args"]["correlation"] for event in calls]
    returned_ns = dict(zip(called, (end_ns for _, end_ns in _spans(calls, 0)), strict=True))
    held_ns = idle_from_ns = 0
    for event, (begin_ns, end_ns) in zip(work, _spans(work, 0), strict=True):
        handed_ns = max(returned_ns[event["args"]["correlation"]], idle_from_ns) + 20_000
        held_ns += max(begin_ns - handed_ns, 0) if idle_from_ns else 0
        idle_from_ns = max(idle_from_ns, end_ns)
    return held_ns


def test_work_that_a_gpu_holds_back_was_launched_in_the_sixth_step_and_loads_no_code() -> None:
    # 24 gaps of 2.4 ms, each ended by work that stood in the stream long before: this V100 is shared in turns
    [gpu] = result_of(run := analyze(RANKS[:1], AnalyzeOptions()), GpuTime).gpus

    assert gpu.idle_causes is not None
    assert (gpu.idle_causes.device_wait_ns, gpu.idle_causes.module_loading_ns) == (_held_ns(RANKS[0]), 0)
    [held] = [finding for finding in run.findings if finding.id == "held_work"]
    assert "such gaps on gpu0 are equally long, 2.39" in " ".join(one.sentence for one in held.evidence)


@each_rank
def test_calls_and_collectives_are_those_of_the_json(path: Path) -> None:
    events = _events(path)
    trace = read_trace(path, ReadOptions())

    calls = [event for event in events if event.get("cat") in {"cuda_runtime", "cuda_driver"}]
    named = [
        (correlation, trace.text(name)) for correlation, name in rows(trace.runtime_calls, "correlation_id", "name_id")
    ]
    assert named == [(call["args"]["correlation"], call["name"]) for call in calls]
    launched = {correlation for (correlation,) in rows(trace.kernels, "correlation_id")}
    assert launched <= {correlation for correlation, _ in named}
    # 13 all-reduces of float, 10 of them with 6,144 elements and 3 with 512, in group 13 of both ranks
    sizes = sorted(size for (size,) in rows(trace.collective_calls, "size_bytes"))
    assert sizes == [512 * 4] * 3 + [6144 * 4] * 10
    texts = {tuple(map(trace.text, ids)) for ids in rows(trace.collective_calls, "kind_id", "dtype_id", "group_id")}
    assert texts == {("all_reduce", "Float", "13")}


@each_rank
def test_the_group_of_a_collective_is_one_whose_ranks_are_known(path: Path) -> None:
    trace = read_trace(path, ReadOptions())

    [(group_id, size)] = set(rows(trace.collective_calls, "group_id", "group_size"))
    [group] = [group for group in trace.process_groups if group.name == trace.text(group_id)]
    assert (group.size, group.ranks, size) == (2, (0, 1), 2)


@each_rank
def test_every_collective_call_lies_in_an_operator_of_its_thread(path: Path) -> None:
    """So that kernel, call and shapes can be brought together by correlation, thread and time."""
    trace = read_trace(path, ReadOptions())

    spans = {tuple(row) for row in rows(trace.nvtx_ranges, "start_ns", "end_ns", "global_tid")}
    assert set(rows(trace.collective_calls, "start_ns", "end_ns", "global_tid")) <= spans
