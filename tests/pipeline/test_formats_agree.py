"""One simulated job, written as SQLite of two schemas and as Kineto, reads as the same work."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.analysis.gpu_time import GpuTime
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.kernels import Collective
from nsysan.model.tables import Copies, Kernels
from nsysan.model.trace import Trace, process_of
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import FileFormat, Generated, Request, generate
from nsysan.synth.placement import Layout
from nsysan.synth.scenario import Scenario, all_scenarios
from nsysan.synth.truth import CollectiveTruth
from tests.ingest.reading import rows
from tests.runs import result_of

RANK_COUNT = 2
FORMATS = {
    "3.7": (FileFormat.SQLITE, "3.7"),
    "3.25": (FileFormat.SQLITE, "3.25"),
    "kineto": (FileFormat.KINETO, "3.25"),
}


def _generated(scenario: Scenario, written_as: str) -> Generated:
    file_format, schema = FORMATS[written_as]
    return generate(
        Request(
            scenario=scenario,
            rank_count=RANK_COUNT,
            step_count=2,
            schema=schema,
            layout=Layout.PER_RANK,
            file_format=file_format,
        )
    )


def _paths(folder: Path, generated: Generated) -> list[Path]:
    folder.mkdir()
    return [export.write(folder / name) for name, export in generated.exports.items()]


def _partition(paths: list[Path]) -> list[object]:
    devices = result_of(analyze(paths, AnalyzeOptions()), GpuTime).devices
    figures = ("pid", "device_id", "window_start_ns", "window_end_ns", "time", "idle_gap_count", "longest_idle_gap_ns")
    return [[getattr(device, name) for name in figures] for device in devices]


def _work(trace: Trace, table: Kernels | Copies | None) -> list[dict[str, object]]:
    """The records in order, with what formats number differently spelt out."""
    assert table is not None
    records = [dict(zip(table.columns(), row, strict=True)) for row in rows(table)]
    plain = [record | {"global_pid": process_of(record["global_pid"])} for record in records]
    plain.sort(key=lambda record: (record["start_ns"], record["stream_id"], record["end_ns"]))
    return [
        {key: trace.text(value) if key == "name_id" else value for key, value in record.items()} for record in plain
    ]


RECORDED_ALIKE = [scenario for scenario in all_scenarios() if not scenario.knobs.captures_layers]
"""A whole graph is a record in 3.25 alone."""


@pytest.mark.parametrize("scenario", RECORDED_ALIKE, ids=lambda scenario: scenario.name)
def test_partition_kernels_and_copies_are_equal(tmp_path: Path, scenario: Scenario) -> None:
    paths = {name: _paths(tmp_path / name, _generated(scenario, name)) for name in FORMATS}

    partitions = {name: _partition(paths[name]) for name in FORMATS}
    traces = {name: [read_trace(path, ReadOptions()) for path in paths[name]] for name in FORMATS}
    work = {
        name: [(_work(trace, trace.kernels), _work(trace, trace.copies)) for trace in traces[name]] for name in FORMATS
    }
    assert partitions["3.7"] == partitions["3.25"] == partitions["kineto"]
    assert work["3.7"] == work["3.25"] == work["kineto"]


COMMUNICATING = ("communication_bound", "moe_skew", "pipeline_bubble", "rooted_collectives", "tensor_parallel")


@pytest.mark.parametrize("name", COMMUNICATING)
def test_kineto_holds_calls_collectives_and_the_rank_too(tmp_path: Path, name: str) -> None:
    [scenario] = [scenario for scenario in all_scenarios() if scenario.name == name]
    generated = _generated(scenario, "kineto")

    traces = [read_trace(path, ReadOptions()) for path in _paths(tmp_path / "kineto", generated)]

    for rank, trace in enumerate(traces):
        calls = rows(trace.collective_calls, "kind_id", "size_bytes")
        told = [size for run in generated.truth.collectives for size in _told(run, rank)]
        assert sorted((trace.text(kind), size) for kind, size in calls) == sorted(told)
        launched = {id_ for table in trace.gpu_tables().values() for (id_,) in rows(table, "correlation_id")}
        assert launched <= {correlation for (correlation,) in rows(trace.runtime_calls, "correlation_id")}
    assert [(trace.rank, trace.world_size) for trace in traces] == [(0, RANK_COUNT), (1, RANK_COUNT)]


def _told(run: CollectiveTruth, rank: int) -> list[tuple[str, int]]:
    """Kind and bytes of what a rank calls: each message of a pair, what it sends of an all-to-all, else the array."""
    sent, received = run.sent_by_rank_bytes, run.received_by_rank_bytes
    if sent is None or received is None:
        return [(run.kind, run.size_bytes)]
    if run.kind is Collective.ALL_TO_ALL:
        return [(run.kind, sent[rank])]
    return [(run.kind, size) for size in (sent[rank], received[rank]) if size]
