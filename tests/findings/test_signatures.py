"""One small trace for each signature that no simulated job has, and one that just misses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.analysis.steps import Steps
from nsysan.model.copies import CopyKind
from nsysan.model.findings import Finding
from nsysan.model.host_events import SwitchTag
from nsysan.model.verdicts import BottleneckClass, ClassState, Severity
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MS, US = 1_000_000, 1_000
GEMM = "ampere_sgemm_128x64_tn"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)"
STEP_NS = 10 * MS
STEPS = 6


def steps(pause_ns: int = 0, named: str | None = None, *, pausing: range = range(STEPS)) -> Export:
    """Steps of 10 ms of GEMMs; in ``pausing`` ones the host pauses after the first, in a range of this name."""
    export, now, number = Export(), 0, 0
    for step in range(STEPS):
        begin = now
        for half in range(2):
            if half and step in pausing and pause_ns:
                if named is not None:
                    export.nvtx(now, now + pause_ns, named)
                now += pause_ns
            number += 1
            export.call(now, now + US, "cudaLaunchKernel_v7000", correlation=number)
            export.kernel(now + US, now + STEP_NS // 2, GEMM, correlation=number)
            now += STEP_NS // 2
        export.nvtx(begin, now - 1, f"step {step}")
    return export


def about(findings: tuple[Finding, ...], cause: str) -> list[tuple[BottleneckClass | None, int | None]]:
    return [(found.bottleneck_class, found.recoverable_ns) for found in findings if found.cause == cause]


def state_of_data(folder: Path, export: Export) -> ClassState:
    return analyze_exports(folder, export).diagnosis.classes[BottleneckClass.DATA].state


def test_waits_for_data_that_nothing_names_are_not_called_sound(tmp_path: Path) -> None:
    paused = steps(2 * MS)

    assert state_of_data(tmp_path, paused) is ClassState.UNKNOWN
    # calls of the operating system, or the range of a loader, would have told such a wait
    assert state_of_data(tmp_path, steps(2 * MS).os_call(0, 10, "poll")) is ClassState.OK
    assert state_of_data(tmp_path, steps(2 * MS).nvtx(0, 10, "DataLoader.__next__")) is ClassState.OK
    # what has another name is no wait for data, and hardly any pause hides none
    assert state_of_data(tmp_path, steps(2 * MS, "gc")) is ClassState.OK
    assert state_of_data(tmp_path, steps(50 * US)) is ClassState.OK


@pytest.mark.parametrize("synchronises", [True, False])
def test_what_the_os_holds_up_after_a_synchronisation_is_said_to_follow_it(
    tmp_path: Path,
    synchronises: bool,  # noqa: FBT001
) -> None:
    # each kernel of 5 ms is followed by 0.5 ms of write
    export = Export()
    for number in range(1, 13):
        begin = number * 6 * MS
        export.call(begin, begin + US, "cudaLaunchKernel_v7000", correlation=number)
        export.kernel(begin + US, begin + 5 * MS, GEMM, correlation=number)
        if synchronises:
            export.call(begin + 2 * US, begin + 5 * MS + 10 * US, "cudaDeviceSynchronize", correlation=100 + number)
        export.os_call(begin + 5 * MS + 100 * US, begin + 5 * MS + 600 * US, "write")

    [found] = [one for one in analyze_exports(tmp_path, export).findings if one.id == "os_blocked"]

    told = [one.sentence for one in found.evidence if "had just waited for the GPU" in one.sentence]
    assert [sentence.startswith("In 11 of the 11 largest gaps ") for sentence in told] == [True] * synchronises


def held(lengths_ms: Sequence[float]) -> Export:
    """Kernels launched while the one before runs, each of which begins so long after that has ended."""
    export, now = Export(), 0
    for number, length_ms in enumerate([0.0, *lengths_ms]):
        export.call(now - 90 * US, now - 80 * US, "cudaLaunchKernel_v7000", correlation=number + 1)
        now += int(length_ms * MS)
        export.kernel(now, now + 100 * US, GEMM, correlation=number + 1)
        now += 100 * US
    return export


def sentences_of_held_work(folder: Path, lengths_ms: Sequence[float]) -> str:
    [found] = [one for one in analyze_exports(folder, held(lengths_ms)).findings if one.id == "held_work"]
    return " ".join(one.sentence for one in found.evidence)


def test_held_work_that_waits_equally_long_may_share_its_gpu(tmp_path: Path) -> None:
    turns = sentences_of_held_work(tmp_path, [9.0, 2.4, 2.45, 2.4, 2.35, 2.4])
    chance = sentences_of_held_work(tmp_path, [9.0, 2.4, 2.45, 2.4, 2.35, 3.4])

    assert "5 such gaps on gpu0 are equally long, 2.400 ms" in turns
    assert "equally long" not in chance


NAMED_PAUSES = [
    ("gc", "garbage_collection", BottleneckClass.SCHEDULING),
    ("save_checkpoint", "checkpoint", BottleneckClass.SCHEDULING),
    ("gloo:barrier", "host_communication", BottleneckClass.COMMUNICATION),
    ("DataLoader.__next__", "data_loading", BottleneckClass.DATA),
]


@pytest.mark.parametrize(("name", "cause", "bottleneck_class"), NAMED_PAUSES)
def test_a_pause_that_its_range_names_costs_its_length(
    tmp_path: Path, name: str, cause: str, bottleneck_class: BottleneckClass
) -> None:
    run = analyze_exports(tmp_path, steps(2 * MS, name))

    [(found_class, recoverable_ns)] = about(run.findings, cause)
    assert found_class is bottleneck_class
    assert recoverable_ns == pytest.approx(2 * MS, abs=2 * US)
    assert run.diagnosis.headline is not None
    assert run.diagnosis.headline.cause == cause


@pytest.mark.parametrize(("name", "cause", "bottleneck_class"), NAMED_PAUSES)
def test_a_pause_of_half_a_percent_is_no_finding(
    tmp_path: Path, name: str, cause: str, bottleneck_class: BottleneckClass
) -> None:
    run = analyze_exports(tmp_path, steps(50 * US, name))

    assert about(run.findings, cause) == []
    assert run.diagnosis.headline is None
    assert run.diagnosis.classes[bottleneck_class].recoverable_ns == pytest.approx(50 * US, abs=2 * US)


def test_a_pause_in_one_step_of_five_costs_a_fifth_of_it(tmp_path: Path) -> None:
    # of the five closed steps one pauses for 5 ms
    run = analyze_exports(tmp_path, steps(5 * MS, "gc", pausing=range(2, 3)))

    [(_, recoverable_ns)] = about(run.findings, "garbage_collection")
    assert recoverable_ns == pytest.approx(5 * MS / 5, abs=2 * US)


@pytest.mark.parametrize(("stream", "found"), [(7, ["same_stream"]), (13, [])])
def test_communication_on_the_computing_stream_is_told(tmp_path: Path, stream: int, found: list[str]) -> None:
    export = Export()
    for place in range(10):
        begin = place * 10 * MS
        export.kernel(begin, begin + 8 * MS, GEMM, stream=7)
        export.kernel(begin + 8 * MS, begin + 10 * MS, ALL_REDUCE, stream=stream)

    findings = analyze_exports(tmp_path, export).findings

    assert [one.id for one in findings if one.id == "same_stream"] == found


def test_one_stray_kernel_of_communication_shares_no_stream(tmp_path: Path) -> None:
    # nsys-ai 134: 1 of 10 collectives on the stream that computes
    export = Export()
    for place in range(10):
        begin = place * 10 * MS
        export.kernel(begin, begin + 8 * MS, GEMM, stream=7)
        export.kernel(begin + 8 * MS, begin + 10 * MS, ALL_REDUCE, stream=13 if place else 7)

    findings = analyze_exports(tmp_path, export).findings

    assert "same_stream" not in {one.id for one in findings}


@pytest.mark.parametrize(("elementwise_ns", "found"), [(3_100 * US, True), (2_900 * US, False)])
def test_elementwise_kernels_of_over_30_percent_could_be_fused(
    tmp_path: Path,
    elementwise_ns: int,
    found: bool,  # noqa: FBT001
) -> None:
    export = Export()
    for step in range(4):
        begin, rest = step * 10 * MS, (step + 1) * 10 * MS - elementwise_ns
        export.nvtx(begin, begin + 10 * MS - 1, f"step {step}")
        export.call(begin, begin + US, "cudaLaunchKernel_v7000", correlation=2 * step + 1)
        export.call(begin + US, begin + 2 * US, "cudaLaunchKernel_v7000", correlation=2 * step + 2)
        export.kernel(begin + 2 * US, rest, GEMM, correlation=2 * step + 1)
        export.kernel(rest, begin + 10 * MS, ADD, correlation=2 * step + 2)

    findings = analyze_exports(tmp_path, export).findings

    assert ("non_gemm" in {one.cause for one in findings}) is found


@pytest.mark.parametrize(("product_count", "found"), [(100, True), (99, False)])
def test_without_steps_many_products_show_a_model_and_few_a_trial(
    tmp_path: Path,
    product_count: int,
    found: bool,  # noqa: FBT001
) -> None:
    export = Export()
    for place in range(product_count):
        begin = place * 20 * US
        export.kernel(begin, begin + 10 * US, GEMM).kernel(begin + 10 * US, begin + 20 * US, ADD)

    assert ("non_gemm" in {one.cause for one in analyze_exports(tmp_path, export).findings}) is found


@pytest.mark.parametrize(("flushes", "headline"), [(True, None), (False, "launch_starved")])
def test_a_step_in_which_the_profiler_flushed_counts_for_nothing(
    tmp_path: Path,
    flushes: bool,  # noqa: FBT001
    headline: str | None,
) -> None:
    # the pause of 4 ms in step 3, half of it a flush or none of it
    export = steps(4 * MS, pausing=range(3, 4))
    if flushes:
        export.overhead(3 * STEP_NS + 6 * MS, 3 * STEP_NS + 8 * MS, "CUPTI Buffer flush")

    run = analyze_exports(tmp_path, export)

    found = run.diagnosis.headline
    assert (None if found is None else found.cause) == headline
    excluded = [(one.reason.value, one.count) for one in result_of(run, Steps).steps.excluded]
    assert excluded == ([("profiler", 1)] if flushes else [])


@pytest.mark.parametrize(
    ("flush_ns", "severity"), [(2 * MS, Severity.WARNING), (700 * US, Severity.INFO), (50 * US, None)]
)
def test_what_the_profiler_costs_a_trace_without_steps_is_no_fault_of_the_job(
    tmp_path: Path, flush_ns: int, severity: Severity | None
) -> None:
    # GEMMs of 10 ms, six of them; before the third the host is in the profiler's flush
    export, now = Export(), 0
    for number in range(1, 7):
        if number == 3:
            export.overhead(now, now + flush_ns, "CUPTI Buffer flush")
            now += flush_ns
        export.call(now, now + US, "cudaLaunchKernel_v7000", correlation=number)
        export.kernel(now + US, now + 10 * MS, GEMM, correlation=number)
        now += 10 * MS

    run = analyze_exports(tmp_path, export)

    assert [one.severity for one in run.findings if one.id == "profiler_cost"] == ([severity] if severity else [])
    assert run.diagnosis.headline is None


@pytest.mark.parametrize(("turn_ns", "found"), [(8 * MS, True), (200 * US, False)])
def test_a_process_that_was_not_recorded_and_held_the_gpu_is_told(
    tmp_path: Path,
    turn_ns: int,
    found: bool,  # noqa: FBT001
) -> None:
    # of 50 ms of closed steps
    export = steps(8 * MS, pausing=range(2, 3))
    begin = 2 * STEP_NS + 5 * MS
    export.gpu_switch(begin, SwitchTag.SAVE_END).gpu_switch(begin, SwitchTag.RESTORE_START, pid=900, context=9)
    export.gpu_switch(begin + turn_ns, SwitchTag.SAVE_END, pid=900, context=9)
    export.gpu_switch(begin + turn_ns, SwitchTag.RESTORE_START)

    findings = [one for one in analyze_exports(tmp_path, export).findings if one.id == "foreign_process"]

    assert [one.severity for one in findings] == [Severity.WARNING] * found
    assert all(one.evidence[0].sentence.endswith(": 1 turn, 8.000 ms.") for one in findings)


def test_states_copied_to_the_host_while_steps_pass_are_a_checkpoint(tmp_path: Path) -> None:
    # C93: steps of 0.5 s, after a save one of 4.5 s with copies to the host
    export, now = Export(), 0
    for step in range(6):
        begin, number = now, 2 * step + 1
        export.call(now, now + US, "cudaLaunchKernel_v7000", correlation=number)
        export.kernel(now + US, now + 500 * MS, GEMM, correlation=number)
        now += 500 * MS
        if step == 3:
            export.call(begin + US, begin + 2 * US, "cudaMemcpyAsync_v3020", correlation=number + 1)
            export.copy(now, now + 4_000 * MS, 80 << 30, kind=CopyKind.DEVICE_TO_HOST, correlation=number + 1)
            now += 4_000 * MS
        export.nvtx(begin, now - 1, f"step {step}")

    run = analyze_exports(tmp_path, export)

    assert run.diagnosis.headline is not None
    headline = run.diagnosis.headline
    assert (headline.bottleneck_class, headline.cause) == (BottleneckClass.SCHEDULING, "checkpoint")
    # once in the five closed steps
    [(found_class, recoverable_ns)] = about(run.findings, "checkpoint")
    assert found_class is BottleneckClass.SCHEDULING
    assert recoverable_ns == pytest.approx(800 * MS, rel=1e-4)


def test_of_a_lone_rank_it_is_not_known_whether_communication_waits_or_transfers(tmp_path: Path) -> None:
    export = Export()
    for place in range(10):
        begin = place * 10 * MS
        export.kernel(begin, begin + 6 * MS, GEMM).kernel(begin + 6 * MS, begin + 10 * MS, ALL_REDUCE, stream=13)

    diagnosis = analyze_exports(tmp_path, export).diagnosis

    # the window is cut where the kernels have run once: after 10 of 100 ms
    assert diagnosis.headline is not None
    assert diagnosis.headline.sentence == (
        "Communication may hold the job back most: communication is exposed, and whether it transfers or waits for "
        "other ranks is not known, 36.000 of 90.000 ms after start-up (40.0 %)"
    )


@pytest.mark.parametrize(
    ("pause_ns", "claim"),
    [(2 * MS, "Data is the largest measurable loss: "), (30 * MS, "Data holds the job back most: ")],
)
def test_a_headline_claims_no_more_than_can_be_measured(tmp_path: Path, pause_ns: int, claim: str) -> None:
    # GEMMs take 10 ms of each step, and how fast they are is not known: they may lose more than 2 ms, not more than 30
    run = analyze_exports(tmp_path, steps(pause_ns, "DataLoader.__next__"))

    assert run.diagnosis.headline is not None
    assert run.diagnosis.headline.sentence.startswith(claim)


def test_where_order_and_size_disagree_both_are_said(tmp_path: Path) -> None:
    # of each step of 13 ms 1 is communication of the host, which is met first, and 2 garbage collection
    export = steps(3 * MS)
    for begin in range(0, STEPS * 13 * MS, 13 * MS):
        export.nvtx(begin + 5 * MS, begin + 6 * MS, "gloo:barrier").nvtx(begin + 6 * MS, begin + 8 * MS, "gc")

    diagnosis = analyze_exports(tmp_path, export).diagnosis

    assert diagnosis.headline is not None
    assert diagnosis.headline.cause == "garbage_collection"
    assert diagnosis.order == "The walk meets communication first (7.7 %)."


def test_what_is_not_known_is_met_in_its_order_too(tmp_path: Path) -> None:
    # of a lone rank's 10 ms 4 communicate or wait, and 2 wait for data, which comes after communication in the walk
    export = Export()
    for place in range(10):
        begin = place * 10 * MS
        export.nvtx(begin + 4 * MS, begin + 6 * MS, "DataLoader.__next__")
        for number, (start, end, name) in enumerate(((0, 4, GEMM), (6, 10, ALL_REDUCE))):
            correlation = 2 * place + number + 1
            export.call(begin + start * MS, begin + start * MS + US, "cudaLaunchKernel", correlation=correlation)
            stream = 13 if number else 7
            export.kernel(begin + start * MS + US, begin + end * MS, name, stream=stream, correlation=correlation)

    diagnosis = analyze_exports(tmp_path, export).diagnosis

    assert diagnosis.headline is not None
    assert (diagnosis.headline.bottleneck_class, diagnosis.order) == (BottleneckClass.COMMUNICATION, None)
