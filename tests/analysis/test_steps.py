"""Steps: what marks them, how they tile, which count, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from nsysan.analysis.steps import Steps, StepTable, compute_steps
from nsysan.analysis.steps_of_device import Step, StepsOfDevice
from nsysan.attribution.job import build_job
from nsysan.attribution.steps.exclusion import Exclusion
from nsysan.attribution.steps.expression import matched_places
from nsysan.attribution.steps.job_steps import StepSource
from nsysan.attribution.window import WindowChoice
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.errors import UsageError
from nsysan.model.partition import PartTimes
from nsysan.model.results import ResultSet, Skipped
from nsysan.synth.export import Export

if TYPE_CHECKING:
    from pathlib import Path

LAUNCH = "cudaLaunchKernel_v7000"
US = 1_000
MS = 1_000_000


def launched(  # noqa: PLR0913 -- a launch and its place, each by name
    export: Export, call_ns: int, start_ns: int, end_ns: int, name: str = "k", *, tid: int = 100, stream: int = 7
) -> Export:
    correlation = export._correlations.get(100, 0) + 1
    export.call(call_ns, call_ns + 1, LAUNCH, tid=tid, correlation=correlation)
    return export.kernel(start_ns, end_ns, name, correlation=correlation, stream=stream)


def loop(texts: list[str], *, step_ns: int = 10 * MS, export: Export | None = None) -> Export:
    """An iteration a range, each of two kernels that fill its second half, 5 us after their calls."""
    export = Export() if export is None else export
    for place, text in enumerate(texts):
        begin_ns = place * step_ns
        export.nvtx(begin_ns, begin_ns + step_ns, text)
        for half in (step_ns // 2, step_ns * 3 // 4):
            launched(export, begin_ns + half - 5 * US, begin_ns + half, begin_ns + half + step_ns // 4)
    return export


def table(folder: Path, export: Export, marker: str | None = None) -> StepTable | Skipped:
    job = build_job([read_trace(export.write(folder / "rank0.sqlite"), ReadOptions())], marker=marker)
    result = compute_steps(job, ResultSet({}))
    return result.steps if isinstance(result, Steps) else result


def bounds(folder: Path, export: Export, marker: str | None = None) -> list[tuple[int, int]]:
    found = table(folder, export, marker)
    assert isinstance(found, StepTable), found
    return [(step.start_ns, step.end_ns) for step in found.devices[0].list]


def test_steps_tile_from_first_kernel_to_first_kernel(tmp_path: Path) -> None:
    found = table(tmp_path, loop([f"iteration {number}" for number in range(12, 16)]))

    assert isinstance(found, StepTable)
    time = PartTimes(5 * MS, 0, 0, 0, 0, 0, 5 * MS)
    causes = {"launch_starved_ns": 5 * MS - 5 * US, "launch_latency_ns": 5 * US}
    steps = tuple(
        Step(f"iteration {12 + place}", start, start + 10 * MS, 10 * MS, time, causes, None)
        for place, start in enumerate((5 * MS, 15 * MS, 25 * MS))
    )
    # T11: numbered iterations; the window runs from 5 to 40 ms, and the last step has no next one to end it
    assert (found.source, found.marker, found.excluded) == (StepSource.NVTX, "iteration *", ())
    (device,) = found.devices
    assert replace(device, idle_causes=None) == StepsOfDevice(
        "r0/p100/d0",
        StepSource.NVTX,
        "iteration *",
        3,
        3,
        0,
        5 * MS,
        10.0 * MS,
        10.0 * MS,
        10 * MS,
        10 * MS,
        0,
        None,
        None,
        time,
        None,
        steps,
    )
    assert device.idle_causes is not None
    assert (device.idle_causes.launch_starved_ns, device.idle_causes.idle_ns) == (5 * MS - 5 * US, 5 * MS)


def test_processes_with_markers_of_their_own_share_no_name(tmp_path: Path) -> None:
    export = loop([f"iteration {number}" for number in range(4)])
    for place in range(4):
        start = place * 10 * MS
        export.nvtx(start, start + 9 * MS, f"batch {place}", pid=200)
        export.call(start + MS, start + MS + 1, LAUNCH, pid=200, correlation=place + 1)
        export.kernel(start + 5 * MS, start + 9 * MS, "work", pid=200, correlation=place + 1)

    found = table(tmp_path, export)

    assert isinstance(found, StepTable)
    assert (found.marker, [device.marker for device in found.devices]) == (None, ["iteration *", "batch *"])


def test_a_marker_without_kernels_joins_the_step_before(tmp_path: Path) -> None:
    export = loop(["step 0", "step 1"])
    export.nvtx(20 * MS, 30 * MS, "step 2")
    for place in (3, 4):
        export.nvtx(place * 10 * MS, place * 10 * MS + 10 * MS, f"step {place}")
        launched(export, place * 10 * MS + MS, place * 10 * MS + 2 * MS, place * 10 * MS + 8 * MS)

    assert bounds(tmp_path, export) == [(5 * MS, 15 * MS), (15 * MS, 32 * MS), (32 * MS, 42 * MS)]


def test_kernels_count_wherever_in_the_process_they_are_launched_but_on_the_main_stream_only(tmp_path: Path) -> None:
    export = Export()
    for place in range(3):
        begin_ns = place * 10 * MS
        export.nvtx(begin_ns, begin_ns + 9 * MS, f"step {place}")
        launched(export, begin_ns + MS, begin_ns + MS + 10, begin_ns + MS + 20, "early copy kernel", stream=8)
        launched(export, begin_ns + 3 * MS, begin_ns + 4 * MS, begin_ns + 9 * MS, tid=200)

    assert bounds(tmp_path, export) == [(4 * MS, 14 * MS), (14 * MS, 24 * MS)]


@pytest.mark.parametrize(
    "text",
    [
        "step {}",
        "iteration{}",
        "Iteration {}",
        "train#step_num={}#",
        "ProfilerStep#{}",
        "epoch 0, batch {}",
        "global_step_{}",
        "train {}",
        "[pl][profile]run_training_batch",
        "[pl][profile][Strategy]DDPStrategy.training_step",
        "train_step",
        "DeepSpeedEngine.step",
        "Optimizer.step#AdamW.step",
        "XlaModule:#prefix=jit(train_step)/jit(main),hlo_module=jit_train_step,program_id=3#",
    ],
)
def test_what_marks_steps(tmp_path: Path, text: str) -> None:
    export = loop([text.format(number) for number in range(3)])

    assert bounds(tmp_path, export) == [(5 * MS, 15 * MS), (15 * MS, 25 * MS)]


@pytest.mark.parametrize(
    "text", ["layer {}", "microbatch {}", "epoch {}", "forward", "cub::DeviceReduce {}", "worker {}"]
)
def test_what_marks_no_steps(tmp_path: Path, text: str) -> None:
    assert isinstance(table(tmp_path, loop([text.format(number) for number in range(4)])), Skipped)


def test_a_librarys_ranges_mark_no_steps(tmp_path: Path) -> None:
    # C42
    export = loop([], export=Export().nvtx_domain(3, "CCCL"))
    for place in range(4):
        export.nvtx(place * 100, place * 100 + 90, f"iteration {place}", domain=3)
        launched(export, place * 100 + 10, place * 100 + 50, place * 100 + 80)

    assert isinstance(table(tmp_path, export), Skipped)


def test_the_top_of_the_loop_marks_steps_not_what_it_numbers_inside(tmp_path: Path) -> None:
    export = loop([f"step {number}" for number in range(3)])
    for place in range(3):
        for batch in range(2):
            begin_ns = place * 10 * MS + batch * 4 * MS + 100
            export.nvtx(begin_ns, begin_ns + 3 * MS, f"batch {2 * place + batch}")

    assert bounds(tmp_path, export) == [(5 * MS, 15 * MS), (15 * MS, 25 * MS)]


def test_a_range_that_the_capture_cut_is_no_marker(tmp_path: Path) -> None:
    export = loop(["step 0", "step 1", "step 2"])
    export.nvtx(-5 * MS, 5_100_000, "step 9").nvtx(30 * MS, None, "step 3")
    launched(export, 31 * MS, 32 * MS, 33 * MS)

    assert bounds(tmp_path, export) == [(5 * MS, 15 * MS), (15 * MS, 25 * MS)]


@pytest.mark.parametrize("marker", ["work 1", "work *", r"work \d"])
def test_the_user_names_markers_by_text_shared_name_or_expression(tmp_path: Path, marker: str) -> None:
    export = loop(["work 1", "work 1", "work 1"])

    assert bounds(tmp_path, export, marker) == [(5 * MS, 15 * MS), (15 * MS, 25 * MS)]


@pytest.mark.parametrize(("marker", "said"), [("nothing", "Fewer than two"), ("(", "as an expression it is wrong")])
def test_a_marker_that_marks_nothing_is_refused(tmp_path: Path, marker: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        table(tmp_path, loop(["step 0", "step 1", "step 2"]), marker)


def test_an_expression_that_would_take_years_is_stopped() -> None:
    said = r"^The expression of --marker cannot be held against the 2 texts of ranges: it takes over 0\.3 s\.\n"
    with pytest.raises(UsageError, match=said):
        matched_places("(a+)+$", ["a", "a" * 64 + "!"], patience_s=0.3)

    assert matched_places("(a+)+", ["a", "a" * 64, "b", "\ud800"]) == [0, 1]


def test_the_jobs_mean_step_is_the_longest_of_its_devices(tmp_path: Path) -> None:
    export = Export()
    for pid, step_ns in ((100, 10 * MS), (200, 12 * MS)):
        for place in range(4):
            begin_ns, number = place * step_ns, place + 1
            export.nvtx(begin_ns, begin_ns + step_ns, f"step {place}", pid=pid)
            export.call(begin_ns, begin_ns + 1, LAUNCH, pid=pid, correlation=number)
            export.kernel(begin_ns + 5 * US, begin_ns + 9 * MS, "k", pid=pid, correlation=number)

    found = table(tmp_path, export)

    assert isinstance(found, StepTable)
    assert [device.mean_ns for device in found.devices] == [10 * MS, 12 * MS]
    assert found.mean_ns == 12 * MS


GEMM, ADAM = "ampere_sgemm_128x64_tn", "void multi_tensor_apply_kernel<AdamFunctor>(int)"


def periodic(counts: list[int], *, optimizer: str = ADAM) -> Export:
    """Steps of so many GEMMs and two optimizer kernels, 1 us each, with 1 us between."""
    export = Export()
    names = [name for count in counts for name in (*[GEMM] * count, optimizer, optimizer)]
    for place, name in enumerate([*names, GEMM]):
        launched(export, 2 * place * US, (2 * place + 1) * US, (2 * place + 2) * US, name)
    return export


def test_without_markers_the_period_of_the_kernels_tells_steps(tmp_path: Path) -> None:
    found = table(tmp_path, periodic([20, 20, 20, 20]))

    # a step is 22 kernels, 44 us; the first period ends with the first burst, so steps begin after it
    assert isinstance(found, StepTable)
    assert (found.source, found.marker) == (StepSource.HEURISTIC, None)
    assert [(step.start_ns, step.end_ns, step.marker) for step in found.devices[0].list] == [
        (45 * US, 89 * US, None),
        (89 * US, 133 * US, None),
        (133 * US, 177 * US, None),
    ]


@pytest.mark.parametrize(
    "export",
    [periodic([20, 20, 20, 20], optimizer="softmax"), periodic([5, 50, 9, 120, 30]), periodic([20, 20])],
    ids=["no optimizer", "no period", "too few"],
)
def test_kernels_without_period_or_optimizer_tell_no_steps(tmp_path: Path, export: Export) -> None:
    assert isinstance(table(tmp_path, export), Skipped)


def test_slow_first_steps_are_warm_up(tmp_path: Path) -> None:
    export, begin_ns = Export(), 0
    for place, length_ns in enumerate([length * MS for length in (40, 20, 10, 10, 20, 10, 10, 20, 10, 10, 20, 10, 10)]):
        export.nvtx(begin_ns, begin_ns + length_ns, f"step {place}")
        launched(export, begin_ns + MS, begin_ns + 2 * MS, begin_ns + length_ns)
        begin_ns += length_ns

    found = table(tmp_path, export)

    # twelve closed steps: 40 and 20 are above 1.5 x 10; after them 10 10 20 10 10 20 10 10 20 10
    assert isinstance(found, StepTable)
    assert [(entry.reason, entry.count) for entry in found.excluded] == [(Exclusion.WARM_UP, 2)]
    (device,) = found.devices
    assert (device.step_count, device.count, device.median_ns, device.p90_ns) == (12, 10, 10.0 * MS, 20 * MS)
    # one step in three is slow; 10, 10 and 20 at both ends
    assert (device.slow_count, device.slow_every, device.trend_frac) == (3, 3, 0.0)


def test_a_step_that_the_profiler_disturbed_is_excluded(tmp_path: Path) -> None:
    export = loop([f"step {number}" for number in range(6)])
    export.overhead(21 * MS, 22 * MS, "CUPTI Buffer flush").call(31 * MS, 31 * MS + 10, "cudaProfilerStop_v4000")

    found = table(tmp_path, export)

    assert isinstance(found, StepTable)
    excluded = [step.marker for step in found.devices[0].list if step.excluded is Exclusion.PROFILER]
    assert excluded == ["step 1", "step 2"]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=3, max_size=9))
def test_steps_tile_and_hold_the_partition_and_causes_of_their_time(
    tmp_path: Path, drawn: list[tuple[int, bool]]
) -> None:
    export, begin_ns = Export(), 0
    for place, (length, has_kernel) in enumerate(drawn):
        export.nvtx(begin_ns, begin_ns + length * US, f"step {place}")
        if has_kernel or place in {0, 1, len(drawn) - 1}:
            launched(export, begin_ns, begin_ns + 300, begin_ns + 300 + length * 500)
        begin_ns += length * US

    found = table(tmp_path, export)

    assert isinstance(found, StepTable)
    steps = found.devices[0].list
    assert [step.start_ns for step in steps[1:]] == [step.end_ns for step in steps[:-1]]
    for step in steps:
        assert step.duration_ns == step.end_ns - step.start_ns == step.time.window_ns
        assert sum((step.idle_causes or {}).values()) == step.time.idle_ns


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["iteration 7"], "only one whole range marks a step (iteration 7), and a step ends where the next one begins"),
        (["work"], "no range numbers iterations, and the kernels show no period that holds one optimizer burst"),
    ],
)
def test_why_there_are_no_steps(tmp_path: Path, texts: list[str], reason: str) -> None:
    found = table(tmp_path, loop(texts))

    assert isinstance(found, Skipped)
    assert found.reason == reason


def test_markers_without_a_closed_step_in_the_window_are_no_missing_markers(tmp_path: Path) -> None:
    export = loop(["iteration 0", "iteration 1", "iteration 2"]).write(tmp_path / "r.sqlite")
    job = build_job([read_trace(export, ReadOptions())], WindowChoice(2 * MS, 12 * MS))

    found = compute_steps(job, ResultSet({}))

    assert isinstance(found, Skipped)
    assert found.reason == "ranges mark steps, but no step that a next one closes lies in the window"
