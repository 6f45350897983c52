"""NVIDIA's own tool reads the synthetic exports, and counts what was put into them."""

from __future__ import annotations

import csv
import io
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from nsysan.synth.engine import simulate
from nsysan.synth.files import write
from nsysan.synth.generate import Request, generate
from nsysan.synth.job import Job
from nsysan.synth.program import TaskKind
from nsysan.synth.scenario import Scenario, find_scenario
from tests.nsys import find_nsys

pytestmark = pytest.mark.nsys


def nsys_rows(arguments: list[str]) -> list[dict[str, str]]:
    """The rows of the comma-separated table that nsys prints."""
    printed = subprocess.run([find_nsys(), *arguments], capture_output=True, text=True, check=True).stdout
    table = printed[printed.index("Row#" if "Row#" in printed else "Time (%)") :]
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
