"""Figures of logs that cannot be are doubted, those that can are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.analysis.nccl_logs import CommunicatorInLog, NcclLogs, NcclLogSummary, TimingInLog
from nsysan.attribution.job import build_job
from nsysan.findings.doubted_bandwidth import find_doubted_bandwidth
from nsysan.findings.doubted_nodes import find_doubted_nodes
from nsysan.findings.doubted_throughput import find_doubted_throughput
from nsysan.model.results import ResultSet
from nsysan.pipeline.throughput import ThroughputOptions, with_throughput
from nsysan.planning.throughput import ScalingRow, Throughput
from nsysan.synth.export import Export
from tests.report.nccl_words import LOG
from tests.runs import analyze_exports

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1024 * 1024
ACROSS = TimingInLog("all_reduce", "ring", 16, 2, 1024 * MIB, 1, 1_000_000, 3.2e9, link_bytes_per_s=3.125e9)
INSIDE = TimingInLog("all_reduce", "ring", 8, 1, 64 * MIB, 1, 1_000_000, 22e9)


def log(*timings: TimingInLog, size: int = 16, nodes: int = 2, host_bytes_per_s: float | None = None) -> NcclLogSummary:
    communicator = CommunicatorInLog("0x1", size, nodes, None, None, ())
    return replace(LOG, communicators=(communicator,), timings=timings, host_bytes_per_s=host_bytes_per_s)


def results(summary: NcclLogSummary) -> ResultSet:
    return ResultSet({NcclLogs.id: NcclLogs((summary,))})


@pytest.mark.parametrize(
    ("summary", "doubted_count"),
    [
        (log(ACROSS), 1),
        (log(replace(ACROSS, busbw_bytes_per_s=3.13e9)), 0),  # rounded
        (log(replace(ACROSS, algorithm="tree")), 0),  # over two nodes a tree moves less
        (log(replace(ACROSS, algorithm="nvls")), 0),
        (log(replace(ACROSS, node_count=1)), 0),  # no link between nodes
        (log(replace(ACROSS, node_count=None)), 0),
        (log(replace(ACROSS, link_bytes_per_s=None)), 0),  # nothing names a link
        (log(replace(ACROSS, link_bytes_per_s=None), host_bytes_per_s=3.125e9), 1),
        (log(replace(ACROSS, link_bytes_per_s=None), host_bytes_per_s=2 * 3.125e9), 0),  # two adapters
    ],
)
def test_a_ring_cannot_exceed_its_link(summary: NcclLogSummary, doubted_count: int) -> None:
    assert len(list(find_doubted_bandwidth(results(summary)))) == doubted_count


@pytest.mark.parametrize(("size", "nodes", "doubted_count"), [(32, 2, 0), (33, 2, 1), (128, 2, 1), (72, 18, 0)])
def test_no_usual_node_has_over_16_gpus(size: int, nodes: int, doubted_count: int) -> None:
    found = list(find_doubted_nodes(results(log(size=size, nodes=nodes))))

    assert [finding.title for finding in found] == [
        f"{size / nodes:g} ranks a node are unusual: nodes have up to 16 GPUs"
    ] * doubted_count


@pytest.mark.parametrize(
    ("gpu", "timing", "doubted_count"),
    [
        ("NVIDIA H100 80GB HBM3", INSIDE, 1),  # NVLink carries 450 GB/s
        ("NVIDIA H100 80GB HBM3", replace(INSIDE, busbw_bytes_per_s=113e9), 0),
        ("NVIDIA H100 80GB HBM3", replace(INSIDE, bytes=MIB), 0),  # small ones are slow anywhere
        ("NVIDIA H100 80GB HBM3", replace(INSIDE, node_count=2), 0),
        ("NVIDIA L4", INSIDE, 0),  # has no NVLink
        ("Some GPU", INSIDE, 0),
    ],
)
def test_links_inside_a_node_are_held_against_nvlink(
    tmp_path: Path, gpu: str, timing: TimingInLog, doubted_count: int
) -> None:
    run = analyze_exports(tmp_path, Export().gpu(name=gpu).kernel(0, 10, "sgemm"))

    found = find_doubted_nodes(run.results.with_result(NcclLogs.id, NcclLogs((log(timing),))))

    assert len(list(found)) == doubted_count


ROW = ScalingRow(128, 64, 0.58, 0.73, 0.8, 1.0, is_of_tokens=False)


@pytest.mark.parametrize(
    ("row", "titles"),
    [
        (ROW, []),  # no log
        (replace(ROW, logged_efficiency=0.6, logs_tell_of_one_gpu=True), []),
        (
            replace(ROW, logged_efficiency=1.17, logs_tell_of_one_gpu=True),
            ['Tokens per second "of one GPU" that grow 2 times with 2 times the GPUs are those of all'],
        ),
        # those of the whole job were divided already
        (replace(ROW, logged_efficiency=1.17), ["Logs and traces disagree on efficiency: 117.0 % and 58.0 %"]),
        (
            replace(ROW, logged_efficiency=0.8, logs_tell_of_one_gpu=True),
            ["Logs and traces disagree on efficiency: 80.0 % and 58.0 %"],
        ),
    ],
)
def test_tokens_per_second_scale_as_the_steps_do(row: ScalingRow, titles: list[str]) -> None:
    told = with_throughput(ResultSet({}), ThroughputOptions(price=1.0), build_job([])).get(Throughput)
    assert isinstance(told, Throughput)
    found = find_doubted_throughput(ResultSet({Throughput.id: Throughput(replace(told.throughput, scaling=row))}))

    assert [finding.title for finding in found] == titles
