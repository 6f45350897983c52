"""Pairs of runs whose difference is known: simulated jobs by their truth, a real pair by what NVIDIA's tool says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsysan.history.comparison import Comparison, compare
from nsysan.history.snapshot import snapshot_of
from nsysan.model.run import Run
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.report.comparison.sentences import sentences_of, state_comparison
from nsysan.synth.export import Export
from nsysan.synth.generate import Generated, generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import find_scenario
from tests.runs import analyze_exports

TRACES = Path(__file__).parents[3] / "shared" / "traces"
MS = 1_000_000


def _job(folder: Path, scenario: str, *, ranks: int = 2) -> tuple[Generated, Run]:
    generated = generate(Request(scenario=find_scenario(scenario), rank_count=ranks, step_count=8))
    folder.mkdir()
    paths = [export.write(folder / name) for name, export in generated.exports.items()]
    return generated, analyze(paths, AnalyzeOptions())


def _compared(before: Run, after: Run) -> Comparison:
    return compare(snapshot_of(before), snapshot_of(after))


@pytest.mark.parametrize(
    ("scenario", "carrier"),
    [
        ("data-bound", "step_idle_causes.data_loading"),
        ("sync-bound", "step_idle_causes.host_sync"),
        ("launch-bound", "step_idle_causes.launch_starved"),
        ("communication-bound", "step_communication.transfer"),
    ],
)
def test_a_job_without_its_bottleneck_is_faster_by_what_the_truth_says(
    tmp_path: Path, scenario: str, carrier: str
) -> None:
    bound, before = _job(tmp_path / "before", scenario)
    _, after = _job(tmp_path / "after", "healthy")

    comparison = _compared(before, after)

    assert comparison.whole is not None
    # these jobs compute different amounts
    assert next(piece.id for piece in comparison.carriers if piece.key != "computing") == carrier
    assert sum(piece.change or 0 for piece in comparison.carriers) == pytest.approx(comparison.whole.change, abs=10)
    recoverable = bound.truth.recoverable
    assert comparison.whole.before == pytest.approx(recoverable.mean_step_ns, rel=0.02)
    if scenario == "data-bound":
        # of the others the healthy job differs in more than the cause
        assert -(comparison.whole.change or 0) == pytest.approx(recoverable.recoverable_ns, rel=0.02)


def test_the_same_job_takes_as_long(tmp_path: Path) -> None:
    _, run = _job(tmp_path / "job", "healthy")

    comparison = _compared(run, run)

    assert state_comparison(comparison).startswith("The mean step takes as long as before, 113.258 and now 113.258 ms")
    assert sentences_of(comparison) == ()
    assert comparison.obstacles == ()


def test_another_number_of_gpus_is_said(tmp_path: Path) -> None:
    _, two = _job(tmp_path / "two", "healthy")
    _, four = _job(tmp_path / "four", "healthy", ranks=4)

    assert sentences_of(_compared(two, four))[:2] == (
        "Take care, these runs differ in what they ran on or recorded: GPU count.",
        "GPU count: 2 before, 4 after.",
    )


def test_a_capture_without_kernels_is_no_speed_up(tmp_path: Path) -> None:
    """Case C64."""
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    before = analyze_exports(tmp_path / "before", Export().kernel(0, 100, "a").kernel(200, 300, "b"))
    after = analyze_exports(tmp_path / "after", Export().session(duration_ns=10))

    comparison = _compared(before, after)

    assert comparison.whole is None
    assert state_comparison(comparison) == ("These runs cannot be compared: after, the trace holds no GPU work")


def test_a_graph_recorded_whole_is_not_compared_with_its_kernels_in_silence(tmp_path: Path) -> None:
    """Case C88, graph mode."""
    (tmp_path / "before").mkdir()
    (tmp_path / "after").mkdir()
    before = analyze_exports(tmp_path / "before", Export().kernel(0, 100, "a"))
    after = analyze_exports(tmp_path / "after", Export().graph(0, 100))

    assert [obstacle.id for obstacle in _compared(before, after).forbidding] == ["graphs"]


@pytest.mark.skipif(not TRACES.exists(), reason="the shared real exports are not beside this checkout")
def test_the_real_pair_is_compared_by_shares_and_not_believed_as_a_step() -> None:
    names = ("alltoall-2xH100-before.sqlite", "alltoall-2xH100-after.sqlite")
    before, after = (analyze([TRACES / name], AnalyzeOptions()) for name in names)
    expected = json.loads((TRACES / "expected-partition.json").read_text())

    comparison = _compared(before, after)

    def share(name: str, part: str) -> float:
        times = [device["time"] for device in expected[name].values()]
        return float(sum(time[f"{part}_ns"] / sum(time.values()) for time in times) / len(times))

    shares = {one.key: one for one in comparison.topic("window_shares")}
    for part in ("compute_only", "exposed_communication", "exposed_copy", "idle"):
        found = (shares[part].before, shares[part].after)
        assert found == pytest.approx(tuple(share(name, part) for name in names)), part
    assert state_comparison(comparison).startswith("Of the window, computing \u22129.1 points, idle by launch")
    assert sentences_of(comparison)[0].startswith("Steps are known in neither run, so no time a step can be compared")
    # counted in the table of kernels by hand: 68 and 60 rows of the name
    assert "flash::flash_fwd_kernel, ran 60 times instead of 68" in sentences_of(comparison)[1]
    # what grew is waiting, of a rank for the other that launches late, not what the network takes
    assert sentences_of(comparison)[2].startswith("Send recv over 2 ranks: transfer 176.704 instead of 175.064")
    waits = comparison.topic("collective_waits")[0]
    assert waits.change_frac == pytest.approx(0.75, abs=0.01)


def test_what_a_log_tells_is_not_solved_where_no_log_is_given(tmp_path: Path) -> None:
    """The same report twice, with a log of 3.2 GB/s over 25 Gb/s = 3.125 GB/s and without."""
    log = tmp_path / "nccl.log"
    log.write_text(
        "AllReduce ring 16 ranks 2 nodes link 25 Gb/s Ethernet size 1073741824 elapsed 629.146 ms BusBW 3.2 GB/s\n"
    )
    path = Export().kernel(0, 9 * MS, "gemm").write(tmp_path / "rank0.sqlite")
    without, with_log = (analyze([path], AnalyzeOptions(evidence=evidence)) for evidence in ((), (log,)))

    gone, come = _compared(with_log, without).findings, _compared(without, with_log).findings

    assert [finding.id for finding in gone.before_only] == ["doubted_bandwidth"]
    assert [finding.id for finding in come.after_only] == ["doubted_bandwidth"]
    assert (gone.solved, come.new) == ((), ())
