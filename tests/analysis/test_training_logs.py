"""What logs say of steps and tokens, and how that stands beside the trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from nsysan.analysis.baseline import Baseline
from nsysan.analysis.training_logs import TrainingLogs, TrainingLogSummary
from nsysan.findings.doubt import with_doubts
from nsysan.model.figures import Bearing, Condition
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet
from nsysan.model.run import Run
from nsysan.model.verdicts import BottleneckClass, Severity
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.synth.export import Export
from tests.analysis.test_steps import loop
from tests.ingest.training_lines import bar, megatron, timer, torchtitan
from tests.runs import analyze_exports, result_of

MS = 1_000_000
S = 1_000_000_000
DISAGREE = "Log and trace disagree on step time by"


def run_beside(folder: Path, *logs: str, step_ns: int = 7_433_000, export: Export | None = None) -> Run:
    """A trace with steps of so many ns, and the logs train0.log, train1.log."""
    paths = [folder / f"train{place}.log" for place in range(len(logs))]
    for path, text in zip(paths, logs, strict=True):
        path.write_text(text)
    trace = export or loop([f"step {place}" for place in range(8)], step_ns=step_ns)
    return analyze_exports(folder, trace, options=AnalyzeOptions(evidence=tuple(paths)))


def summary(folder: Path, log: str) -> TrainingLogSummary:
    [found] = result_of(run_beside(folder, log), TrainingLogs).training_logs
    return found


def log_findings(run: Run) -> list[tuple[str, Severity, str]]:
    ids = {"log_step_time", "unaccounted_time"}
    return [(found.id, found.severity, found.title) for found in run.findings if found.id in ids]


def megatron_of(*times_ms: float) -> str:
    return "".join(megatron(place, f"{time_ms}") for place, time_ms in enumerate(times_ms, start=1))


def test_the_profiler_slows_the_run(tmp_path: Path) -> None:
    # C52: the log says 3.066 ms, the trace 7.433 ms; the first line holds the start
    run = run_beside(tmp_path, megatron_of(9_000.0, 3.066, 3.066, 3.066))

    [log] = result_of(run, TrainingLogs).training_logs
    assert [log.step_ns, log.trace_step_ns] == pytest.approx([3_066_000, 7_433_000], rel=1e-3)
    assert log.slowdown == pytest.approx(2.42, abs=0.01)
    assert log.is_perturbed
    title = f"{DISAGREE} 142.4 %: the profiler slows this run"
    assert log_findings(run) == [("log_step_time", Severity.WARNING, title)]
    [finding] = [one for one in run.findings if one.id == "log_step_time"]
    assert finding.evidence[0].sentence == (
        "A step takes 3.066 ms by train0.log and 7.433 ms in the trace, 2.42 times as long."
    )


def test_findings_about_gaps_are_doubtful_then_and_no_others(tmp_path: Path) -> None:
    run = run_beside(tmp_path, megatron_of(3.0, 3.066, 3.066))
    late = Finding(
        id="launches",
        bottleneck_class=BottleneckClass.SCHEDULING,
        cause="launch_starved",
        severity=Severity.CRITICAL,
        title="Launches are late",
        recoverable_ns=9,
        evidence=(Evidence("A gap.", "idle_gaps"),),
        advice=(),
    )
    data = Finding(
        id="data",
        bottleneck_class=BottleneckClass.DATA,
        cause="data_loading",
        severity=Severity.CRITICAL,
        title="Data are late",
        recoverable_ns=9,
        evidence=(),
        advice=(),
    )

    doubted, other = with_doubts([late, data], run.results)

    doubt = (
        "Doubtful, for the profiler lengthens gaps. A step takes 3.066 ms by train0.log and 7.433 ms in the trace, "
        "2.42 times as long."
    )
    assert (doubted.severity, [one.sentence for one in doubted.evidence]) == (Severity.INFO, [doubt, "A gap."])
    assert other == data
    assert list(with_doubts([late], ResultSet({}))) == [late]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (megatron_of(9, 7.4, 7.4), []),
        (megatron_of(9, 7.0, 7.0), []),
        (
            megatron_of(9, 14.866, 14.866),
            [
                (
                    "log_step_time",
                    Severity.INFO,
                    f"{DISAGREE} 50.0 %: the log's steps hold more than the trace's, or are of another run",
                )
            ],
        ),
        (
            bar(1, 9, "00:01", "403.6it/s") + bar(2, 9, "00:02", "403.6it/s"),
            [
                (
                    "log_step_time",
                    Severity.INFO,
                    f"{DISAGREE} 200.0 %: it counts batches, and a step may be 3 of them",
                )
            ],
        ),
        (bar(1, 9, "00:01", "200.0it/s") + bar(2, 9, "00:02", "200.0it/s"), ["log_step_time"]),
    ],
    ids=["alike", "within a tenth", "longer in the log", "a bar of batches", "a bar of steps"],
)
def test_what_a_disagreement_says(tmp_path: Path, text: str, found: list[object]) -> None:
    told = log_findings(run_beside(tmp_path, text))

    assert told == found or [one[0] for one in told] == found


def test_logs_that_disagree_are_shown_both_and_never_averaged(tmp_path: Path) -> None:
    run = run_beside(tmp_path, megatron_of(9, 3.0, 3.0), megatron_of(9, 4.0, 4.0))

    logs = result_of(run, TrainingLogs).training_logs
    assert [(log.name, log.step_ns) for log in logs] == [("train0.log", 3.0 * MS), ("train1.log", 4.0 * MS)]
    assert len(log_findings(run)) == 2


def test_where_one_log_agrees_another_contradicts_it_and_nothing_is_blamed(tmp_path: Path) -> None:
    run = run_beside(tmp_path, megatron_of(9, 7.433, 7.433), megatron_of(9, 5.908, 5.908))

    assert [log.is_perturbed for log in result_of(run, TrainingLogs).training_logs] == [False, False]
    # 7.433 / 5.908 = 1.258
    title = f"{DISAGREE} 25.8 %: another log agrees with the trace, so the logs contradict each other"
    assert log_findings(run) == [("log_step_time", Severity.WARNING, title)]


@pytest.mark.parametrize(("step_ms", "apart"), [(7_433.0, "99.9 %"), (0.007, "106085.7 %")])
def test_a_thousand_times_are_another_unit(tmp_path: Path, step_ms: float, apart: str) -> None:
    run = run_beside(tmp_path, megatron_of(step_ms, step_ms, step_ms))

    title = f"{DISAGREE} {apart}: about 1,000 times, so the log's times may be in another unit"
    assert log_findings(run) == [("log_step_time", Severity.INFO, title)]
    assert not result_of(run, TrainingLogs).training_logs[0].is_perturbed


def test_time_outside_the_timer(tmp_path: Path) -> None:
    # C95: the timer says 16.7 s, a step is written every 18.5 s
    run = run_beside(tmp_path, "".join(timer(step, 1_700_000_000 + 18.5 * step, 16.7) for step in range(5)))

    [log] = result_of(run, TrainingLogs).training_logs
    assert [log.cadence_ns, log.timer_ns, log.unaccounted_ns] == pytest.approx([18.5 * S, 16.7 * S, 1.8 * S])
    [finding] = [one for one in run.findings if one.id == "unaccounted_time"]
    assert finding.title == "1.800 s a step pass outside the timer of steps, 9.7 % of the time"
    assert "nsys profile -t cuda,nvtx,osrt" in finding.advice[0]


def test_times_of_day_in_whole_seconds_do_not_make_such_time_up(tmp_path: Path) -> None:
    # 10 steps of 0.95 s between lines whose times are cut to seconds: 9.5 s look like 9 or 10
    line = "".join(
        megatron(10 * place, "950.0", before=f"[2024-05-01 12:00:{19 * place // 2:02d}]") for place in range(6)
    )

    log = summary(tmp_path, line)

    assert log.cadence_ns == pytest.approx(0.94 * S)
    assert log.unaccounted_ns is None


def test_lines_written_while_iterations_are_skipped_do_not_count(tmp_path: Path) -> None:
    log = summary(tmp_path, megatron(10, "356.2", skipped=10) + megatron(20, "90.0", skipped=1) + megatron(30, "140.6"))

    assert log.step_ns == pytest.approx(140.6 * MS)
    assert (log.skipped_count, log.line_count) == (11, 3)


def test_a_run_that_begins_again_counts_from_its_second_line(tmp_path: Path) -> None:
    text = megatron_of(900.0, 100.0, 100.0) + megatron(1, "800.0") + megatron(2, "104.0") + megatron(3, "99.0")

    log = summary(tmp_path, text)

    assert (log.run_count, log.first_step, log.last_step, log.step_ns) == (2, 1, 3, 100.0 * MS)


def test_the_batch_that_a_log_tells_is_a_condition(tmp_path: Path) -> None:
    run = run_beside(tmp_path, megatron_of(90.0, 91.0, 92.0, 90.5))

    logs = result_of(run, TrainingLogs)

    # what Megatron writes in these lines
    assert logs.training_logs[0].global_batch == 1024
    assert list(logs.conditions()) == [
        Condition("global_batch", "global batch", "1024", Bearing.FORBIDS, is_beside=True)
    ]


def test_without_a_timer_the_times_of_day_tell(tmp_path: Path) -> None:
    # from the first line on: 1.118, 1.121 and 9 s (an evaluation); the median is a step's
    text = "".join(torchtitan(step, time) for step, time in enumerate(["46,338", "47,456", "48,577", "57,577"]))

    log = summary(tmp_path, text.replace(" 4", " 16:04:4").replace(" 57,577", " 16:04:57,577"))

    assert (log.step_source, log.step_ns) == ("cadence", 1_121 * MS)
    assert log.cadence_ns == pytest.approx((57.577 - 46.338) / 3 * S)


def test_a_bar_that_went_on_from_a_checkpoint(tmp_path: Path) -> None:
    # tqdm jumps from 0 to 500 at once, and its own average never forgets it
    text = (
        "Continuing training from global step 500\n"
        + bar(0, 1000, "00:00", "9.00it/s")
        + "".join(bar(500 + step, 1000, f"00:{2 * step:02d}", "80.0it/s") for step in range(16))
        + "\n{'train_runtime': 30.0, 'train_samples_per_second': 2133.0}\n"
    )

    log = summary(tmp_path, text)

    assert (log.step_ns, log.step_source, log.samples_per_s, log.is_resumed) == (2 * S, "cadence", None, True)


@pytest.mark.parametrize(
    ("text", "ranks", "tokens_per_s", "source"),
    [
        (
            "  seq_length ...... 4096\n" + megatron_of(9, 100, 100),
            None,
            1024 * 4096 / 0.1,
            "train0.log, batch times sequence length over the time of a step",
        ),
        (
            timer(1, 1.0, 0.5, tokens=1000) + timer(2, 2.0, 0.5, tokens=1000),
            None,
            2_000.0,
            "train0.log, tokens of a step over its time",
        ),
        (
            torchtitan(1, "16:04:46,338") + torchtitan(2, "16:04:47,456"),
            8,
            7_450 * 8,
            "train0.log, those of a GPU times 8, the traces' world size",
        ),
        (
            "using world size: 4, data-parallel size: 4\n"
            + torchtitan(1, "16:04:46,338")
            + torchtitan(2, "16:04:47,456"),
            8,
            7_450 * 4,
            "train0.log, those of a GPU times 4, the log's world size",
        ),
    ],
    ids=["batch and length", "tokens of a step", "of a GPU", "of a GPU, the log tells how many"],
)
def test_throughput_is_the_logs_and_bears_its_name(
    tmp_path: Path, text: str, ranks: int | None, tokens_per_s: float, source: str
) -> None:
    (tmp_path / "train0.log").write_text(text)
    options = AnalyzeOptions(evidence=(tmp_path / "train0.log",))
    options = replace(options, ranks=replace(options.ranks, world_size=ranks))

    figures = result_of(analyze_exports(tmp_path, Export().kernel(0, 9, "k"), options=options), Baseline).baseline

    assert figures.tokens_per_s == pytest.approx(tokens_per_s)
    assert figures.tokens_per_s_source == source
    assert "tokens_per_s" not in figures.unknown


@pytest.mark.parametrize(
    ("logs", "why"),
    [
        ([], "needs the tokens of a step; give the training log with --evidence"),
        ([megatron_of(9, 9)], "the training log tells neither them nor batch and sequence length"),
        (
            [torchtitan(1, "16:04:46,338") + torchtitan(2, "16:04:47,456")],
            "the log tells those of one GPU, and nothing how many there are; say it with --world-size",
        ),
    ],
)
def test_why_throughput_is_unknown(tmp_path: Path, logs: list[str], why: str) -> None:
    run = run_beside(tmp_path, *logs, export=Export().kernel(0, 9, "k"))

    assert result_of(run, Baseline).baseline.unknown["tokens_per_s"] == why
