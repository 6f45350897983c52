"""What nsysan finds in simulated jobs is what the simulation says is true, in every schema and layout."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from nsysan.analysis.gpu_time import DeviceTimes, GpuTime
from nsysan.analysis.steps import Steps
from nsysan.model.idle import IdleCauses
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.pipeline.info import InfoOptions, inspect_report
from nsysan.synth.generate import Generated, generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import Scenario, all_scenarios
from nsysan.synth.tables.schema import RELEASES
from nsysan.synth.training.spelling import SPELLINGS
from nsysan.synth.truth.job_truth import RankTruth, RecordedTruth
from tests.runs import result_of


def _figures(found: DeviceTimes | RankTruth | RecordedTruth) -> dict[str, object]:
    names = ("window_start_ns", "window_end_ns", "time", "idle_gap_count", "longest_idle_gap_ns")
    return {name: getattr(found, name) for name in names}


def _causes(found: IdleCauses | None) -> dict[str, int]:
    """The causes that there are, as the truth writes them."""
    assert found is not None
    return {cause: time_ns for cause, time_ns in msgspec.to_builtins(found).items() if time_ns}


def _written(folder: Path, generated: Generated) -> list[Path]:
    return [export.write(folder / name) for name, export in generated.exports.items()]


@pytest.mark.parametrize(
    ("scenario", "schema", "layout"),
    list(product(all_scenarios(), RELEASES, Layout)),
    ids=lambda value: str(getattr(value, "name", value)),
)
def test_partition_causes_and_steps_are_the_truth_as_far_as_it_is_recorded(
    tmp_path: Path, scenario: Scenario, schema: str, layout: Layout
) -> None:
    request = Request(scenario=scenario, rank_count=3, step_count=3, schema=schema, layout=layout)
    generated = generate(replace(request, clock_error_ns=500_000) if layout is Layout.PER_RANK else request)

    run = analyze(_written(tmp_path, generated), AnalyzeOptions())

    gpu_time = result_of(run, GpuTime)
    complete = {(rank.file, rank.pid): rank.idle_causes for rank in generated.truth.ranks if not rank.as_recorded}
    files = [report.name for report in run.reports]
    found = {(files[device.report], device.pid, device.device_id): _figures(device) for device in gpu_time.devices}
    assert found == {
        (rank.file, rank.pid, rank.device_id): _figures(rank.as_recorded or rank) for rank in generated.truth.ranks
    }
    assert len(gpu_time.gpus) == 3
    causes = {(files[device.report], device.pid): _causes(device.idle_causes) for device in gpu_time.devices}
    steps = {device.id: device.list for device in result_of(run, Steps).steps.devices}
    assert {
        (files[device.report], device.pid): [(step.marker, step.start_ns, step.end_ns) for step in steps[device.id]]
        for device in gpu_time.devices
    } == {
        (rank.file, rank.pid): [(step.marker, step.start_ns, step.end_ns) for step in rank.steps]
        for rank in generated.truth.ranks
    }
    # what a graph without a record filled looks idle, and the truth does not know how that would look
    assert {key: causes[key] for key in causes if key in complete} == complete
    assert all(sum(_causes(gpu.idle_causes).values()) == gpu.time.idle_ns for gpu in gpu_time.gpus)


def test_idle_of_a_job_that_waits_for_data_lies_inside_its_steps(tmp_path: Path) -> None:
    """Ranges projected on GPU work would hold none of it: the GPU waits before the first kernel of a step."""
    [scenario] = [scenario for scenario in all_scenarios() if scenario.name == "data_bound"]
    generated = generate(Request(scenario=scenario, rank_count=1, step_count=5))

    (device,) = result_of(analyze(_written(tmp_path, generated), AnalyzeOptions()), Steps).steps.devices

    for step in device.list:
        assert step.idle_causes is not None
        # the loader takes what the step lasts longer than its computing
        assert step.idle_causes["data_loading_ns"] > 0.95 * step.time.idle_ns > 0.3 * step.duration_ns


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_steps_of_a_profiler_trace_are_those_of_the_profiler(tmp_path: Path, spelling: str) -> None:
    [healthy] = [scenario for scenario in all_scenarios() if scenario.name == "healthy"]
    request = Request(scenario=healthy, rank_count=1, step_count=4, file_format=FileFormat.KINETO, spelling=spelling)
    generated = generate(request)
    [path] = _written(tmp_path, generated)

    [device] = result_of(analyze([path], AnalyzeOptions()), Steps).steps.devices
    asked = inspect_report(path, InfoOptions()).open_questions

    [rank] = generated.truth.ranks
    assert [(step.marker, step.duration_ns) for step in device.list] == [
        (f"ProfilerStep#{number}", step.end_ns - step.start_ns) for number, step in enumerate(rank.steps)
    ]
    assert asked is not None
    assert "ranges" not in {question.id for question in asked}


def test_what_pytorch_records_of_a_job_has_the_same_causes_and_steps(tmp_path: Path) -> None:
    for scenario in all_scenarios():
        if scenario.name == "graph_captured":
            continue  # the profiler records what runs inside a graph, which this job does not know
        request = Request(scenario=scenario, rank_count=2, step_count=2, file_format=FileFormat.KINETO)
        generated = generate(request)
        run = analyze(_written(tmp_path, generated), AnalyzeOptions())

        devices, steps = result_of(run, GpuTime).devices, result_of(run, Steps).steps.devices
        for rank, device, found in zip(generated.truth.ranks, devices, steps, strict=True):
            assert _causes(device.idle_causes) == rank.idle_causes
            assert [step.duration_ns for step in found.list] == [step.end_ns - step.start_ns for step in rank.steps]


def test_only_whole_graphs_of_schema_37_are_not_recorded() -> None:
    requests = [
        Request(scenario=scenario, rank_count=2, step_count=2, schema=schema)
        for scenario in all_scenarios()
        for schema in RELEASES
    ]

    incomplete = [
        (request.scenario.name, request.schema)
        for request in requests
        if any(rank.as_recorded for rank in generate(request).truth.ranks)
    ]
    assert incomplete == [("graph_captured", "3.7")]


@pytest.mark.parametrize("schema", RELEASES)
def test_which_gpu_is_device_0_of_a_masked_process_is_known_in_the_new_schema_alone(
    tmp_path: Path, schema: str
) -> None:
    [healthy] = [scenario for scenario in all_scenarios() if scenario.name == "healthy"]
    generated = generate(
        Request(scenario=healthy, rank_count=3, step_count=2, schema=schema, layout=Layout.MASKED),
    )

    run = analyze(_written(tmp_path, generated), AnalyzeOptions())

    is_told = schema == "3.25"
    assert [gpu.uuid for gpu in result_of(run, GpuTime).gpus] == [
        rank.gpu_uuid if is_told else None for rank in generated.truth.ranks
    ]
    assert ("gpus_not_matched" in {note.id for note in run.notes}) is not is_told
