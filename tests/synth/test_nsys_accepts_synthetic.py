"""NVIDIA's own tool reads the synthetic exports, and counts what was put into them."""

from __future__ import annotations

import csv
import io
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import pytest

from nsysan.synth.files import write
from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import Scenario, find_scenario
from nsysan.synth.simulation.engine import simulate
from nsysan.synth.simulation.program import TaskKind
from nsysan.synth.simulation.timelines import Simulation
from nsysan.synth.system.os_wait import os_calls
from nsysan.synth.trace_kind import TraceKind
from nsysan.synth.training.job import Job
from nsysan.synth.truth.job_truth import Truth
from tests.nsys import find_nsys

pytestmark = pytest.mark.nsys
_HEADS = ("Row#", "Time (%)", "Total (MB)", "Duration (ns)")


def nsys_rows(arguments: list[str]) -> list[dict[str, str]]:
    """The rows of the comma-separated table that nsys prints."""
    printed = subprocess.run([find_nsys(), *arguments], capture_output=True, text=True, check=True).stdout
    head = next(line for line in printed.splitlines() if line.startswith(_HEADS))
    table = printed[printed.index(head) :]
    return list(csv.DictReader(io.StringIO(table)))


SCENARIOS = [
    "healthy",
    "moe_skew",
    "parallel_branches",
    "pipeline_bubble",
    "rooted_collectives",
    "tensor_parallel",
]


@pytest.mark.parametrize("schema", ["3.7", "3.25"])
@pytest.mark.parametrize("scenario", [find_scenario(name) for name in SCENARIOS], ids=SCENARIOS)
def test_kernel_counts_and_totals_are_those_of_nsys_stats(scenario: Scenario, schema: str, tmp_path: Path) -> None:
    request = Request(scenario=scenario, schema=schema, rank_count=2, step_count=2, includes_blobs=schema == "3.25")
    [export, _] = write(generate(request), tmp_path)
    job = Job(knobs=scenario.knobs, parallelism=scenario.parallelism, seed=0, rank_count=2, step_count=2)
    simulation = simulate(job.programs())
    counts: Counter[str] = Counter()
    totals_ns: Counter[str] = Counter()
    for work in (work for timeline in simulation.ranks for work in timeline.works):
        if work.task.kind is TaskKind.KERNEL:
            counts[work.task.name] += 1
            totals_ns[work.task.name] += work.end_ns - work.start_ns

    rows = nsys_rows(["stats", "-q", "-f", "csv", "-r", "cuda_gpu_kern_sum", str(export)])

    assert {row["Name"]: (int(row["Instances"]), int(row["Total Time (ns)"])) for row in rows} == {
        name: (counts[name], totals_ns[name]) for name in counts
    }


@pytest.fixture(scope="module", params=["3.7", "3.25"])
def everything(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    """All kinds of records, three recordings in a row."""
    generated = generate(
        Request(
            scenario=find_scenario("allocator"),
            schema=request.param,
            rank_count=2,
            step_count=2,
            kinds=frozenset(TraceKind),
            recording_count=3,
        )
    )
    [export, _] = write(generated, tmp_path_factory.mktemp("everything"))
    return export, generated.truth


def stats(report: str, export: Path) -> dict[str, tuple[int, int]]:
    """Count and total time by name."""
    rows = nsys_rows(["stats", "-q", "-f", "csv", "-r", report, str(export)])
    names, counts = ("Name", "Range"), ("Num Calls", "Instances")
    return {
        next(row[name] for name in names if name in row): (
            next(int(row[count]) for count in counts if count in row),
            int(row["Total Time (ns)"]),
        )
        for row in rows
    }


def simulated() -> Simulation:
    """The one recording that all are copies of."""
    knobs = find_scenario("allocator").knobs
    return simulate(Job(knobs=knobs, seed=0, rank_count=2, step_count=2).programs())


def counted(named: Iterable[tuple[str, int]]) -> dict[str, tuple[int, int]]:
    """Count and total time by name, in three recordings."""
    times: defaultdict[str, list[int]] = defaultdict(list)
    for name, time_ns in named:
        times[name].append(time_ns)
    return {name: (3 * len(found), 3 * sum(found)) for name, found in times.items()}


def test_os_calls_are_those_of_nsys_stats(everything: tuple[Path, Truth]) -> None:
    export, truth = everything

    found = stats("osrt_sum", export)

    calls = chain.from_iterable(os_calls(timeline.spans) for timeline in simulated().ranks)
    assert found == counted((call.name, call.end_ns - call.start_ns) for call in calls)
    hosts = [rank.system.host for rank in truth.ranks if rank.system is not None and rank.system.host is not None]
    assert [sum(figures) for figures in zip(*found.values(), strict=True)] == [
        sum(host.os_call_count for host in hosts),
        sum(host.os_call_ns for host in hosts),
    ]


def test_cuda_calls_are_those_of_nsys_stats(everything: tuple[Path, Truth]) -> None:
    calls = chain.from_iterable(timeline.calls for timeline in simulated().ranks)
    # nsys drops a version of four digits
    names = ((re.sub(r"_v\d{4}$", "", call.name), call.end_ns - call.start_ns) for call in calls)

    assert stats("cuda_api_sum", everything[0]) == counted(names)


def test_ranges_are_those_of_nsys_stats_and_the_steps_are_numbered_on(everything: tuple[Path, Truth]) -> None:
    found = stats("nvtx_sum", everything[0])

    timelines = simulated().ranks
    ranges = [one for timeline in timelines for one in timeline.ranges if one.text is not None]
    lengths: Counter[str] = Counter()
    for one in ranges:
        lengths[str(one.text)] += one.end_ns - one.start_ns
    assert found["NCCL:ncclAllReduce"] == (3 * 2 * 2 * 8, 3 * lengths["ncclAllReduce"])
    assert {name: figures for name, figures in found.items() if name.startswith("step ")} == {
        f"step {number}": (2, lengths[f"step {number % 2}"]) for number in range(6)
    }
    assert sum(count for count, _ in found.values()) == 3 * len(ranges)


def test_sizes_of_copies_are_those_of_nsys_stats(everything: tuple[Path, Truth]) -> None:
    rows = nsys_rows(["stats", "-q", "-f", "csv", "-r", "cuda_gpu_mem_size_sum", str(everything[0])])

    # tokens and labels of 8 x 4096 bytes and one fill of 4096 a step; 2 ranks, 2 steps, 3 recordings
    assert {row["Operation"]: (row["Count"], row["Total (MB)"]) for row in rows} == {
        "[CUDA memcpy Host-to-Device]": ("24", f"{24 * 32_768 / 1e6:.3f}"),
        "[CUDA memset]": ("12", f"{12 * 4_096 / 1e6:.3f}"),
    }


def test_gaps_of_recordings_in_a_row_are_those_of_nsys_analyze(everything: tuple[Path, Truth]) -> None:
    export, truth = everything

    rows = nsys_rows(["analyze", "-q", "-f", "csv", "-r", "gpu_gaps:gap=0:rows=-1", str(export)])

    gaps_by_device: dict[str, list[int]] = {}
    for row in rows:
        gaps_by_device.setdefault(row["Device ID"], []).append(int(row["Duration (ns)"]))
    assert {device: (len(gaps), sum(gaps), max(gaps)) for device, gaps in gaps_by_device.items()} == {
        str(rank.device_id): (rank.idle_gap_count, rank.time.idle_ns, rank.longest_idle_gap_ns) for rank in truth.ranks
    }


def test_synchronising_calls_are_found_by_nsys_analyze(everything: tuple[Path, Truth]) -> None:
    rows = nsys_rows(["analyze", "-q", "-f", "csv", "-r", "cuda_api_sync:rows=-1", str(everything[0])])

    # one at the end of each of 2 ranks, in 3 recordings
    assert Counter((row["PID"], row["API Name"]) for row in rows) == {
        ("1000", "cudaDeviceSynchronize_v3020"): 3,
        ("1001", "cudaDeviceSynchronize_v3020"): 3,
    }


def test_gaps_are_those_of_nsys_analyze(tmp_path: Path) -> None:
    generated = generate(Request(scenario=find_scenario("launch_bound"), rank_count=2, step_count=2))
    [export, _] = write(generated, tmp_path)

    rows = nsys_rows(["analyze", "-q", "-f", "csv", "-r", "gpu_gaps:gap=0:rows=-1", str(export)])

    gaps_by_device: dict[str, list[int]] = {}
    for row in rows:
        gaps_by_device.setdefault(row["Device ID"], []).append(int(row["Duration (ns)"]))
    assert {device: (len(gaps), sum(gaps), max(gaps)) for device, gaps in gaps_by_device.items()} == {
        str(rank.device_id): (rank.idle_gap_count, rank.time.idle_ns, rank.longest_idle_gap_ns)
        for rank in generated.truth.ranks
    }
