"""One simulated job reads as the same work from every reader and every form that its format has had."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from nsysan.analysis.gpu_time import GpuTime
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.kernels import Collective
from nsysan.model.tables import Copies, Kernels, Memsets
from nsysan.model.trace import PID_MASK, PID_SHIFT, Trace
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import Generated, generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import Scenario, all_scenarios
from nsysan.synth.truth.job_truth import CollectiveTruth
from tests.ingest.layouts import SCHEMAS, lay_out, layout_of
from tests.ingest.reading import rows
from tests.runs import result_of

RANK_COUNT = 2
PID_BITS = PID_MASK << PID_SHIFT
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


def _work(trace: Trace, table: Kernels | Copies | Memsets | None) -> list[dict[str, object]]:
    """The records in order, with what formats number differently spelt out."""
    assert table is not None
    records = [dict(zip(table.columns(), row, strict=True)) for row in rows(table)]
    plain = [record | {"global_pid": record["global_pid"] & (PID_MASK << PID_SHIFT)} for record in records]
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


def _older(paths: list[Path], folder: Path, release: str) -> list[Path]:
    [schema] = [schema for schema in SCHEMAS if schema.stem.startswith(release)]
    folder.mkdir()
    # before 2022 exports knew no NULL
    return [lay_out(path, layout_of(schema), folder / path.name, has_nulls=release >= "2022") for path in paths]


def _tables(paths: list[Path], folder: Path, suffix: str) -> list[Path]:
    table_folders = pytest.importorskip("tests.ingest.table_folders", reason="needs the extra parquet")
    folder.mkdir()
    return [table_folders.as_folder(path, folder / path.stem, suffix) for path in paths]


def _calls(trace: Trace) -> list[tuple[object, ...]] | None:
    """The calls in order, without the version that only nsys puts behind a name."""
    table = trace.runtime_calls
    if table is None:
        return None
    found = rows(table, "start_ns", "end_ns", "correlation_id", "name_id", "global_tid")
    return sorted(
        (start_ns, end_ns, launched, re.sub(r"_v\d+$", "", trace.text(name_id)), global_tid & PID_BITS)
        for start_ns, end_ns, launched, name_id, global_tid in found
    )


def _ranges(trace: Trace) -> list[tuple[object, ...]] | None:
    table = trace.nvtx_ranges
    if table is None:
        return None
    found = rows(table, "start_ns", "end_ns", "global_tid", "domain_id", "name_id")
    return sorted((*place, trace.text(name_id)) for *place, name_id in found)


def _work_of(path: Path, lacking: Collection[str] = ()) -> dict[str, object]:
    """All GPU work, calls and ranges, None where the form has no such table; without the columns that it lacks."""
    trace = read_trace(path, ReadOptions())
    work: dict[str, object] = {}
    for name in ("kernels", "copies", "memsets"):
        records = _work(trace, getattr(trace, name))
        work[name] = [{key: value for key, value in record.items() if key not in lacking} for record in records]
    return {**work, "calls": _calls(trace), "ranges": None if "ranges" in lacking else _ranges(trace)}


FORMS: dict[str, Callable[[list[Path], Path], list[Path]]] = {
    "parquetdir": lambda paths, folder: _tables(paths, folder, ".parquet"),
    "arrowdir": lambda paths, folder: _tables(paths, folder, ".arrow"),
    "2021.2, no META tables": lambda paths, folder: _older(paths, folder, "2021.2"),
    "2022.1, EXPORT_META_DATA": lambda paths, folder: _older(paths, folder, "2022.1"),
    "2022.2, the tables of schema 3.0": lambda paths, folder: _older(paths, folder, "2022.2"),
    "2023.4": lambda paths, folder: _older(paths, folder, "2023.4"),
    "2025.1": lambda paths, folder: _older(paths, folder, "2025.1.3"),
}
"""How the files of a current export are written in another form."""
LACKING = {"2021.2, no META tables": {"ranges", "src_device_id", "dst_device_id"}}
"""No such table, and 0 in place of NULL."""
RICH = [scenario for scenario in RECORDED_ALIKE if scenario.name in {"communication_bound", "pageable_copies"}]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scenario", RICH, ids=lambda scenario: scenario.name)
def test_every_form_of_an_export_holds_the_same(tmp_path: Path, scenario: Scenario, form: str) -> None:
    if form[0].isdigit() and not SCHEMAS:
        pytest.skip("the shared schemas are not beside this checkout")
    current = _paths(tmp_path / "current", _generated(scenario, "3.25"))

    other = FORMS[form](current, tmp_path / "other")

    assert _partition(other) == _partition(current)
    lacking = LACKING.get(form, set())
    for path, current_path in zip(other, current, strict=True):
        assert _work_of(path, lacking) == _work_of(current_path, lacking)


@pytest.mark.parametrize("scenario", RICH, ids=lambda scenario: scenario.name)
def test_kineto_holds_the_same_work_and_calls(tmp_path: Path, scenario: Scenario) -> None:
    """Its ranges are left out: where nsys has NVTX ranges, those of NCCL among them, it has operators."""
    current, kineto = (_paths(tmp_path / name, _generated(scenario, name)) for name in ("3.25", "kineto"))

    for path, other in zip(current, kineto, strict=True):
        of_nsys, of_torch = _work_of(path), _work_of(other)
        assert {kind: of_torch[kind] for kind in ("kernels", "copies", "memsets")} == {
            kind: of_nsys[kind] for kind in ("kernels", "copies", "memsets")
        }
        assert of_torch["calls"] == of_nsys["calls"]


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
