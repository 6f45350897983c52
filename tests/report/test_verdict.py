"""The verdict's sentences, the six figures, findings and what could not be answered."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from nsysan.analysis.baseline import Baseline, BaselineFigures
from nsysan.analysis.lateness_causes import WhyLate
from nsysan.analysis.steps import Steps
from nsysan.analysis.stragglers import Pattern, Straggler, Stragglers
from nsysan.attribution.steps.job_steps import StepSource
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.lateness import Lateness
from nsysan.model.missing_records import MissingRecords
from nsysan.model.partition import PartTimes
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.verdicts import Severity
from nsysan.report.elements import Cell
from nsysan.report.prose import plain
from nsysan.report.sections.figures import SECTION as FIGURES
from nsysan.report.sections.figures import FiguresView
from nsysan.report.sections.findings import SECTION as FINDINGS
from nsysan.report.sections.findings import FindingsView
from nsysan.report.sections.notes import SECTION as NOTES
from nsysan.report.sections.notes import NotesView
from nsysan.report.sections.unanswered import SECTION as UNANSWERED
from nsysan.report.sections.unanswered import UnansweredView
from nsysan.report.sections.verdict import SECTION, VerdictView
from nsysan.report.terms import TERMS
from nsysan.report.verdict import state_verdict, step_fact
from tests.report.gpu_times import EXPLAINED_GPUS, ONE_GPU, SECOND_TIME, TWO_GPUS, gpu, gpu_time
from tests.report.joint_work import COLLECTIVES, STRAGGLERS
from tests.report.recorded import STEPS, STEPS_OF_FIRST
from tests.report.runs import FINDING, HEADLINE, NO_VERDICT, full_run, run_of

SYNC = Cause.HOST_SYNC


def details_of(run: Run) -> list[str]:
    return [plain(detail) for detail in state_verdict(run).details]


def test_without_a_headline_one_gpu_s_shares_are_stated_then_its_times_and_why_that_is_no_verdict() -> None:
    verdict = state_verdict(run_of(ONE_GPU))

    assert verdict.sentence == (
        "The GPU computed for 70.0 % of the window; exposed communication, transfer or waiting, took 15.0 %"
    )
    assert verdict.why == "This run holds no steps, so the window may include start-up."
    assert details_of(run_of(ONE_GPU)) == [
        "Compute kernels ran for 700.000 ms of 1.000 s.",
        "Exposed communication took 150.000 ms.",
    ]


def test_idle_time_comes_with_its_gaps() -> None:
    # 700 + 300 ms, and half of the idle time is the longest of the 3 gaps
    times = gpu("gpu0", PartTimes(700_000, 0, 0, 0, 0, 0, 300_000))
    single = replace(times, idle_gap_count=1, longest_idle_gap_ns=300_000)

    assert details_of(run_of(gpu_time((times,))))[1] == ("Idle time took 300.000 µs in 3 gaps, the longest 150.000 µs.")
    assert details_of(run_of(gpu_time((single,))))[1] == "Idle time took 300.000 µs in 1 gap."


def test_graphs_that_left_no_record_make_bounds_of_the_figures() -> None:
    unseen = replace(ONE_GPU, job=replace(ONE_GPU.job, unseen_graph_launch_count=3))
    idle = gpu_time((gpu("gpu0", PartTimes(100, 0, 0, 0, 0, 0, 900)),))
    mostly_idle = replace(idle, job=replace(idle.job, unseen_graph_launch_count=3))
    lossy = replace(idle, job=replace(idle.job, missing_records={"kernels": MissingRecords(1, 9)}))

    assert [state_verdict(run_of(result)).sentence for result in (unseen, mostly_idle, lossy)] == [
        "The GPU computed for at least 70.0 % of the window; exposed communication, transfer or waiting, took 15.0 %",
        "The GPU computed for at least 10.0 % of the window; idle time took at most 90.0 %",
        "The GPU computed for at least 10.0 % of the window; idle time took at most 90.0 %",
    ]


def test_what_the_gpus_waited_for_longest_is_named_where_it_is_known() -> None:
    single = gpu_time((gpu("gpu0", PartTimes(100, 0, 0, 0, 0, 0, 900), causes=IdleCauses.of_times({SYNC: 900})),))
    unknown = gpu_time(
        (gpu("gpu0", PartTimes(100, 0, 0, 0, 0, 0, 900), causes=IdleCauses.of_times({Cause.UNKNOWN: 900})),)
    )

    # of 1,000 ms gpu0 waited 60 for data and gpu1 200
    assert [state_verdict(run_of(result)).sentence for result in (EXPLAINED_GPUS, single, unknown)] == [
        (
            "The 2 GPUs computed for 65.0 % of the window; they waited for the data loader for 13.0 %, and exposed "
            "communication, transfer or waiting, took 12.5 %"
        ),
        "The GPU computed for 10.0 % of the window; it waited for a host that synchronised for 90.0 %",
        "The GPU computed for 10.0 % of the window; idle time took 90.0 %",
    ]


def test_the_median_step_is_a_fact_and_says_where_no_range_marked_it() -> None:
    heuristic = replace(STEPS_OF_FIRST, source=StepSource.HEURISTIC, slow_count=0, slow_every=None)
    none_steady = replace(STEPS_OF_FIRST, median_ns=None)
    runs = [run_of(Steps(replace(STEPS.steps, devices=(each,)))) for each in (STEPS_OF_FIRST, heuristic, none_steady)]

    assert [step_fact(run) for run in (*runs, run_of())] == [
        "4 steady steps, median 70.000 ms",
        "4 steady steps by the kernels' period, median 70.000 ms",
        None,
        None,
    ]


def test_several_gpus_are_averaged_and_the_worst_is_named() -> None:
    verdict = state_verdict(run_of(TWO_GPUS))

    assert verdict.sentence == "The 2 GPUs computed for 65.0 % of the window; idle time took 17.5 %"
    assert details_of(run_of(TWO_GPUS)) == [
        "gpu1 computed least, for 60.0 %.",
        "gpu1 had most idle time, 25.0 %.",
    ]


def test_of_gpus_that_are_alike_none_is_named() -> None:
    alike = gpu_time((gpu("gpu0", SECOND_TIME), gpu("gpu1", SECOND_TIME)))

    assert details_of(run_of(alike)) == []


def test_the_rank_that_the_others_wait_for_is_named_with_why_it_is_late() -> None:
    first = STRAGGLERS.stragglers[0]
    by_data = replace(first, why=WhyLate(Lateness.DATA_LOADING, 90e6, None))
    in_turn, unexplained = replace(first, pattern=Pattern.ROTATING), replace(first, why=None)

    def told(straggler: Straggler) -> list[str]:
        view = SECTION.build(run_of(TWO_GPUS, COLLECTIVES, Stragglers((straggler,))))
        assert isinstance(view, VerdictView)
        return [sentence for detail in view.details if "In collectives" in (sentence := plain(detail))]

    waited = "In collectives the others waited 100.000 ms for rank 1:"
    assert [told(one) for one in (first, by_data, in_turn, unexplained)] == [
        [f"{waited} its clock is slow."],
        [f"{waited} it waits longer for the data loader."],
        [],
        [],
    ]


def test_of_gpus_alike_none_is_named_alone() -> None:
    waiting, busy = PartTimes(600, 0, 0, 0, 350, 0, 50), PartTimes(950, 0, 0, 0, 10, 0, 40)
    three = gpu_time((*(gpu(f"gpu{place}", waiting) for place in range(3)), gpu("gpu3", busy)))
    assert details_of(run_of(three)) == [
        "3 of the 4 GPUs computed least, for 60.0 % each.",
        "3 of the 4 GPUs had most exposed communication, 35.0 % each.",
    ]


def test_figures_lead_to_the_sections_with_their_evidence() -> None:
    targets = [
        phrase.target
        for detail in state_verdict(run_of(TWO_GPUS)).details
        for phrase in detail
        if phrase.target is not None
    ]

    assert targets == ["time", "gaps"]


def test_the_headline_is_the_verdict_where_the_diagnosis_has_one() -> None:
    run = replace(full_run(), diagnosis=replace(NO_VERDICT, headline=HEADLINE, why=None))

    assert state_verdict(run).sentence == "Data holds this job back: 250 of 1,000 ms wait for the next batch"
    assert state_verdict(run).why is None
    assert details_of(run) == [
        "Exposed waiting for other ranks takes 60.000 ms (6.0 %) a step, charged to what they did."
    ]


def test_a_window_full_of_compute_has_no_other_part_to_name() -> None:
    run = run_of(gpu_time((gpu("gpu0", PartTimes(100, 0, 0, 0, 0, 0, 0)),)))

    assert state_verdict(run).sentence == "The GPU computed for 100.0 % of the window"
    assert details_of(run) == ["Compute kernels ran for 100 of 100 ns.", "No other part took any time."]


def test_nothing_is_claimed_where_no_time_is_known() -> None:
    skipped = state_verdict(run_of(Skipped("gpu_time", "the trace holds no GPU work", None)))

    assert skipped.sentence == "Where the GPU time went is unknown: the trace holds no GPU work"
    assert skipped.details == ()


def test_the_facts_place_the_run() -> None:
    view = SECTION.build(full_run())

    assert isinstance(view, VerdictView)
    assert view.subject == "rank0.sqlite"
    assert view.facts == (
        "2 GPUs, NVIDIA H100 80GB HBM3",
        "window 1.000 s",
        "Nsight Systems 2025.6.1",
        "4 steady steps, median 70.000 ms",
    )


def test_unknown_figures_are_words_with_a_reason_and_known_ones_have_unit_and_source() -> None:
    view = FIGURES.build(full_run())

    assert isinstance(view, FiguresView)
    assert view.heading == "1 baseline figure of 6 known"
    assert [(figure.value, figure.unit, figure.remark, figure.source) for figure in view.figures[:3]] == [
        ("not known", None, "No batch size was given.", "no source"),
        ("65.0", "%", "of the window, mean over GPUs", "trace"),
        ("not known", None, "No model was given.", "no source"),
    ]


def test_each_figure_is_written_in_its_own_unit() -> None:
    figures = BaselineFigures(62_802.4, 0.89, 0.383, 0.064, 28_100_000.0, 71_950_000_000, {})
    view = FIGURES.build(run_of(Baseline(figures)))

    assert isinstance(view, FiguresView)
    assert [(figure.value, figure.unit) for figure in view.figures] == [
        ("62,802", "tokens/s"),
        ("89.0", "%"),
        ("38.3", "%"),
        ("6.4", "%"),
        ("28.100", "ms"),
        ("71.950", "GB"),
    ]


def test_the_data_wait_stands_beside_the_step_it_is_of() -> None:
    figures = BaselineFigures(None, None, None, None, 28_100_000.0, None, {})
    view = FIGURES.build(run_of(Baseline(figures), STEPS))

    assert isinstance(view, FiguresView)
    assert view.figures[4].remark == "mean over ranks, of a mean step of 70.000 ms"


def test_a_true_zero_is_a_known_figure() -> None:
    figures = BaselineFigures(None, 0.0, None, 0.0, None, None, {})
    view = FIGURES.build(run_of(Baseline(figures)))

    assert isinstance(view, FiguresView)
    assert [figure.value for figure in view.figures if figure.known] == ["0.0", "0.0"]


def test_findings_show_severity_evidence_advice_and_what_a_fix_would_win() -> None:
    about_trace = msgspec.structs.replace(
        FINDING, severity=Severity.INFO, bottleneck_class=None, cause=None, recoverable_ns=None
    )
    view = FINDINGS.build(replace(full_run(), findings=(FINDING, about_trace)))

    assert isinstance(view, FindingsView)
    assert view.heading == "2 findings: 1 warning and 1 info"
    first, second = view.findings
    assert (first.amount, first.unit, first.class_name, first.cause) == (
        "150.000",
        "ms a step",
        "Scheduling",
        "launch starved",
    )
    assert [plain(sentence) for sentence in first.evidence] == ["Two gaps of 125 ms hold all of it."]
    assert (second.amount, second.no_amount, second.class_name) == (None, "about the trace", None)


def test_notes_and_findings_have_no_section_where_there_are_none() -> None:
    run = run_of(TWO_GPUS)
    notes = NOTES.build(full_run())

    assert (FINDINGS.build(run), NOTES.build(run), UNANSWERED.build(run)) == (None, None, None)
    assert isinstance(notes, NotesView)
    assert notes.heading == "1 thing to know before trusting the figures"
    assert notes.sentences == ("The window may include start-up.",)


def test_skipped_questions_are_listed_with_why_and_what_to_record() -> None:
    view = UNANSWERED.build(
        run_of(Skipped("gpu_time", "no CUDA table", "Record CUDA"), Skipped("steps", "no NVTX", None))
    )

    assert isinstance(view, UnansweredView)
    assert view.heading == "2 questions left unanswered"
    assert view.table.rows == (
        (Cell("GPU time"), Cell("No CUDA table."), Cell("Record CUDA")),
        (Cell("Steps"), Cell("No NVTX."), Cell("no way is known", style="faint")),
    )


def test_the_terms_have_one_sentence_and_a_name_each() -> None:
    assert all(term.name and term.sentence.endswith(".") for term in TERMS.values())


def test_findings_are_counted_by_their_severity_the_worst_first() -> None:
    severities = (Severity.WARNING, Severity.INFO, Severity.WARNING, Severity.CRITICAL, Severity.CRITICAL)
    found = tuple(msgspec.structs.replace(FINDING, severity=severity) for severity in severities)
    view = FINDINGS.build(replace(full_run(), findings=found))

    assert isinstance(view, FindingsView)
    assert view.heading == "5 findings: 2 critical, 2 warnings and 1 info"
