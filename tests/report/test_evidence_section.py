"""What logs, monitors and the scheduler say, on the page and in the text."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nsysan.analysis.baseline import Baseline
from nsysan.analysis.gpu_samples import SampledGpus
from nsysan.analysis.scheduler_jobs import SchedulerAccounts
from nsysan.analysis.training_logs import TrainingLogs, TrainingLogSummary
from nsysan.report.evidence_sentences import evidence_sentences
from nsysan.report.formats.text import render_text
from nsysan.report.sections.evidence import SECTION, EvidenceView
from nsysan.report.sections.figures import SECTION as FIGURES
from nsysan.report.sections.figures import FiguresView
from tests.report.runs import BASELINE, run_of
from tests.report.side_evidence import GPU_SAMPLES, JOB, LOG, RECORDING, SCHEDULER_JOBS, TRAINING_LOGS

CONTRADICTED = "another log agrees with the trace, so the logs contradict each other"
TOOK = "A step takes 3.066 ms by its timer, says train.log of steps 10 to 1,200"
REST = (
    "its steps begin again 1 time; it goes on from a checkpoint; 11 iterations updated nothing, and lines that tell "
    "of such do not count"
)
WAITED = "Job 4711 (completed) waited 3,000.000 s in the queue and ran 90,001.000 s"
QUIET = replace(LOG, unaccounted_ns=None, run_count=1, is_resumed=False, skipped_count=0)


def test_a_sentence_or_two_for_each_file() -> None:
    view = SECTION.build(run_of(TRAINING_LOGS, GPU_SAMPLES, SCHEDULER_JOBS))

    assert isinstance(view, EvidenceView)
    assert view.heading == "train.log and trace disagree on step time by 142.4 %: the profiler slows this run"
    assert view.sentences == (
        f"{TOOK}, and 7.433 ms in the trace.",
        "From step to step 3.400 ms pass by train.log, of which 340.000 µs lie outside its timer.",
        f"Of train.log: {REST}.",
        "nvidia-smi dmon sampled 2 GPUs whose clocks at work lie between 1,300 and 1,755 MHz, says dmon.txt.",
        f"{WAITED} on 16 nodes with 128 GPUs, says jobs.txt.",
    )


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        (
            replace(QUIET, slowdown=1.004, is_perturbed=False),
            "train.log and trace agree on step time within 0.4 %: 3.066 ms.",
        ),
        (
            replace(QUIET, slowdown=None),
            f"{TOOK}; the trace shows no steps to hold it against.",
        ),
        (
            replace(QUIET, step_ns=None),
            "train.log (Megatron) tells of steps 10 to 1,200, and not how long they take.",
        ),
    ],
)
def test_what_is_said_of_a_step(log: TrainingLogSummary, sentence: str) -> None:
    assert next(evidence_sentences(run_of(TrainingLogs((log,))))) == sentence


@pytest.mark.parametrize(
    ("clocks", "told"),
    [
        ((), "2 GPUs and no clock of one at work"),
        ((1e9,), "1 GPU at 1,000 MHz at work"),
        ((1_755e6, 1_755.2e6), "2 GPUs whose clocks at work are all 1,755 MHz"),
    ],
)
def test_what_is_said_of_clocks(clocks: tuple[float, ...], told: str) -> None:
    gpus = tuple(replace(RECORDING.gpus[0], sm_clock_hz=clock) for clock in clocks or (None, None))
    recording = replace(RECORDING, gpus=gpus, first_line=7)

    [sentence] = evidence_sentences(run_of(SampledGpus((recording,))))

    assert sentence == f"nvidia-smi dmon sampled {told}, says dmon.txt from line 7 on."


def test_of_a_job_only_what_is_accounted() -> None:
    job = replace(JOB, queue_ns=None, run_ns=None, nodes=None, gpu_count=None, state=None)

    assert list(evidence_sentences(run_of(SchedulerAccounts((job,))))) == [
        "Job 4711 is accounted without times, says jobs.txt."
    ]


def test_a_pending_job_has_not_begun() -> None:
    jobs = run_of(SchedulerAccounts((replace(JOB, state="PENDING", queue_ns=None, run_ns=0),)))

    assert list(evidence_sentences(jobs)) == [
        "Job 4711 (pending) has not begun on 16 nodes with 128 GPUs, says jobs.txt."
    ]
    view = SECTION.build(jobs)
    assert isinstance(view, EvidenceView)
    assert [cell.text for cell in view.tables[0].rows[0]][3] == "unknown"


def test_logs_that_contradict_each_other_are_called_so() -> None:
    agreeing = replace(QUIET, name="a.log", slowdown=1.003, is_perturbed=False)
    other = replace(QUIET, name="b.log", slowdown=1.258, is_perturbed=False)

    told = list(evidence_sentences(run_of(TrainingLogs((agreeing, other)))))

    assert told[:2] == [
        "a.log and trace agree on step time within 0.3 %: 3.066 ms.",
        f"b.log and trace disagree on step time by 25.8 %: {CONTRADICTED}.",
    ]


def test_the_tables() -> None:
    view = SECTION.build(run_of(TRAINING_LOGS, GPU_SAMPLES, SCHEDULER_JOBS))

    assert isinstance(view, EvidenceView)
    logs, gpus, jobs = [[[cell.text for cell in row] for row in table.rows] for table in view.tables]
    assert logs == [["train.log", "3.066 ms", "7.433 ms", "3.400 ms", "340.000 µs", "98,760 tokens/s", "24.11"]]
    assert gpus[1] == ["GPU 1", "600", "1,300 MHz", "512 W", "83 °C", "99.0 %", "62.5 %", "unknown", "unknown"]
    assert view.tables[1].rows[0][0].note == "dmon.txt, 2 samples without a value, 1 gap"
    assert jobs == [["4711", "Completed", "3,000.000 s", "90,001.000 s", "16", "128"]]


def test_throughput_of_one_gpu_is_called_so() -> None:
    log = replace(LOG, tokens_per_s=None, tokens_source=None, tokens_per_gpu_per_s=7_450.0)

    view = SECTION.build(run_of(TrainingLogs((log,))))

    assert isinstance(view, EvidenceView)
    cell = view.tables[0].rows[0][5]
    assert (cell.text, cell.note) == ("7,450 tokens/s", "of one GPU")


def test_throughput_bears_the_logs_name_among_the_baseline_figures() -> None:
    known = {key: why for key, why in BASELINE.baseline.unknown.items() if key != "tokens_per_s"}
    figures = replace(
        BASELINE.baseline, tokens_per_s=98_760.4, tokens_per_s_source="train.log, as it says", unknown=known
    )

    view = FIGURES.build(run_of(Baseline(figures)))

    assert isinstance(view, FiguresView)
    first = view.figures[0]
    assert (first.value, first.unit, first.source) == ("98,760", "tokens/s", "train.log, as it says")


def test_the_text_says_the_same_and_without_evidence_there_is_no_section() -> None:
    text = " ".join(render_text(run_of(TRAINING_LOGS, GPU_SAMPLES, SCHEDULER_JOBS)).split())

    assert "train.log and trace disagree on step time by 142.4 %" in text
    assert "Job 4711 (completed) waited" in text
    assert SECTION.build(run_of(TrainingLogs(()), SampledGpus(()), SchedulerAccounts(()))) is None
