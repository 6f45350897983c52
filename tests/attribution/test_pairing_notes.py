"""What is said where GPU work and calls do not pair, and of windows that a single gap fills."""

from __future__ import annotations

from pathlib import Path

from nsysan.attribution.window import WindowChoice
from nsysan.model.findings import Finding
from nsysan.model.run import Run
from nsysan.model.verdicts import ClassState, Severity
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.synth.export import Export
from tests.runs import analyze_exports

LAUNCH = "cudaLaunchKernel_v7000"
MS = 1_000_000
DAY_NS = 86_400_000 * MS
NOTES = {"work_without_call", "work_before_call", "hollow_window"}
UNCALLED = (
    "19 of 20 pieces of GPU work in rank0.sqlite have no recorded call: idle time before them has no cause, and no "
    "range or step has them."
)
EARLY = (
    "20 of 20 pieces of GPU work in rank0.sqlite began before their calls: the clocks of host and GPU disagree, so "
    "causes of idle time are doubtful."
)
HOLLOW = (
    "One gap of 86,399.961 s is 100.0 % of gpu0's window: 1 piece of work lies after it. Shares of the window say "
    "little of the rest: choose a window with --from and --to."
)


def job(export: Export | None = None, *, called_ns: int = 0, calls: int = 20) -> Export:
    """Twenty kernels of 1 ms, 2 ms apart; of so many the call is recorded, that much after the kernel's begin."""
    export = Export() if export is None else export
    for place in range(20):
        start_ns = place * 2 * MS + 5_000
        if place < calls:
            export.call(start_ns + called_ns - 5_000, start_ns + called_ns - 1_000, LAUNCH, correlation=place + 1)
        export.kernel(start_ns, start_ns + MS, "gemm", correlation=place + 1)
    return export


def said(run: Run) -> list[str]:
    return [note.sentence for note in run.notes if note.id in NOTES]


def launch_bound(run: Run) -> Finding:
    (found,) = [finding for finding in run.findings if finding.id == "launch_bound"]
    return found


def test_work_whose_call_was_not_recorded_is_said_and_leaves_classes_unknown(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, job(calls=1))

    assert said(run) == [UNCALLED]
    states = {one.value: verdict.state for one, verdict in run.diagnosis.classes.items()}
    assert states == {
        "compute": ClassState.UNKNOWN,
        "communication": ClassState.OK,
        **dict.fromkeys(("data", "memory", "scheduling"), ClassState.UNKNOWN),
    }
    # 19 ms of the 38 after the first kernel
    assert run.diagnosis.why == (
        "No verdict: no recorded call ends the idle time that is 50.0 % of the time after start-up, so nothing tells "
        "why the GPUs idle."
    )


def test_a_few_pieces_launched_before_the_capture_are_no_news(tmp_path: Path) -> None:
    assert said(analyze_exports(tmp_path, job(job(), calls=20).kernel(41 * MS, 42 * MS, "gemm", correlation=99))) == []


def test_copies_that_the_driver_makes_of_itself_have_no_call_and_are_no_news(tmp_path: Path) -> None:
    export = job()
    for place in range(20):
        export.copy(50 * MS + place * 1_000, 50 * MS + place * 1_000 + 500, 4096, kind=11, correlation=None)

    assert said(analyze_exports(tmp_path, export)) == []


def test_calls_after_their_work_are_said_and_what_is_told_of_gaps_is_doubtful(tmp_path: Path) -> None:
    sound, late = (analyze_exports(tmp_path, job(called_ns=shift_ns)) for shift_ns in (0, 500_000_000))

    assert said(sound) == []
    assert launch_bound(sound).severity is Severity.CRITICAL
    assert said(late) == [EARLY]
    assert launch_bound(late).severity is Severity.INFO
    assert launch_bound(late).evidence[0].sentence == (
        "Doubtful, for the clocks of host and GPU disagree: 20 of 20 pieces of GPU work began before their calls."
    )


def test_a_kernel_a_day_later_is_said(tmp_path: Path) -> None:
    export = (
        job().call(DAY_NS, DAY_NS + 10, LAUNCH, correlation=30).kernel(DAY_NS + 20, DAY_NS + 30, "k", correlation=30)
    )

    # from the end of the last at 39.005 ms on
    assert said(analyze_exports(tmp_path, export)) == [HOLLOW]
    chosen = AnalyzeOptions(window=WindowChoice(0, 2 * DAY_NS))
    assert said(analyze_exports(tmp_path, export, options=chosen)) == []


def test_a_gap_of_most_of_a_window_is_no_news_until_it_is_nearly_all(tmp_path: Path) -> None:
    def with_second_half_at(start_ns: int) -> Export:
        return job().call(start_ns, start_ns + 10, LAUNCH, correlation=30).kernel(start_ns + 20, start_ns + MS, "k")

    assert said(analyze_exports(tmp_path, with_second_half_at(300 * MS))) == []
    (sentence,) = said(analyze_exports(tmp_path, with_second_half_at(500 * MS)))
    assert sentence.startswith("One gap of 460.995 ms is 92.0 % of gpu0's window")
