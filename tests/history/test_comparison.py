"""What changed between two runs: figures side by side, what carries the change, and what is not the same."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nsysan.history.comparison import FindingChanges, Obstacle, OneSided, compare
from nsysan.history.differences import Difference, differences_of
from nsysan.history.snapshot import KeptFinding
from nsysan.model.figures import Bearing, Better, Condition, Figure, Topic, Unit
from nsysan.model.results import Skipped
from nsysan.model.verdicts import Severity
from tests.history.snapshots import MS, STEP, gpu_model, kernel_figures, snapshot, step_figures

SLOW = step_figures(80, 20, {"data_loading": 30, "host_sync": 10})
FAST = step_figures(82, 12, {"data_loading": 5, "host_sync": 10})


def test_a_figure_of_both_runs_has_its_change_and_one_of_a_single_run_has_none() -> None:
    (gone, stays, new) = (Figure(STEP, key, key, 8.0, Unit.NS, Better.LESS) for key in ("gone", "stays", "new"))

    (topic,) = differences_of([gone, stays], [replace(stays, value=10.0), new])

    assert topic.differences == (
        Difference("step.gone", "gone", "gone", Unit.NS, Better.LESS, None, 8.0, None, None, None, None),
        Difference("step.stays", "stays", "stays", Unit.NS, Better.LESS, None, 8.0, 10.0, 2.0, 0.25, None),
        Difference("step.new", "new", "new", Unit.NS, Better.LESS, None, None, 8.0, None, None, None),
    )


def test_the_relative_change_of_nothing_is_not_known() -> None:
    (topic,) = differences_of([Figure(STEP, "a", "a", 0.0, Unit.NS)], [Figure(STEP, "a", "a", 3.0, Unit.NS)])

    assert (topic.differences[0].change, topic.differences[0].change_frac) == (3.0, None)


def test_the_carriers_are_the_finest_pieces_and_add_up_to_the_change() -> None:
    comparison = compare(snapshot(*SLOW), snapshot(*FAST))

    assert comparison.whole is not None
    # 140 to 109 ms; computing is one piece, for none of its pieces is better than another
    assert comparison.whole.change == -31 * MS
    assert [(piece.name, piece.change) for piece in comparison.carriers] == [
        ("idle by data_loading", -25 * MS),
        ("exposed communication", -8 * MS),
        ("computing", 2 * MS),
        ("idle by host_sync", 0),
    ]


def test_idle_time_is_one_piece_where_a_run_does_not_know_its_causes() -> None:
    without_causes = tuple(figure for figure in FAST if figure.topic.id != "step_idle_causes")

    carriers = compare(snapshot(*SLOW), snapshot(*without_causes)).carriers

    assert [(piece.name, piece.change) for piece in carriers] == [
        ("idle", -25 * MS),
        ("exposed communication", -8 * MS),
        ("computing", 2 * MS),
    ]


def test_pieces_that_do_not_add_up_are_no_carriers() -> None:
    halved = tuple(replace(one, value=one.value / 2) if one.key == "computing" else one for one in FAST)

    assert compare(snapshot(*SLOW), snapshot(*halved)).carriers == ()


@pytest.mark.parametrize(("error_ms", "is_noise"), [(3.0, True), (2.0, False), (None, False)])
def test_a_change_within_two_standard_errors_is_noise(error_ms: float | None, *, is_noise: bool) -> None:
    before, after = (snapshot(*step_figures(100 + more, 0, {}, error_ms=error_ms)) for more in (0, 8))

    whole = compare(before, after).whole

    # 8 ms apart: 2 * sqrt(3^2 + 3^2) = 8.5 ms, 2 * sqrt(2^2 + 2^2) = 5.7 ms
    assert whole is not None
    assert whole.is_noise is is_noise


def test_runs_without_steps_in_both_are_compared_by_their_windows() -> None:
    shares = Topic("window_shares", "Shares of the window")
    whole = Figure(shares, "whole", "window", 1.0, Unit.FRAC)
    half = (Figure(shares, key, key, 0.5, Unit.FRAC, part_of=whole.id) for key in ("computing", "idle"))
    windowed = snapshot(*half, whole)

    comparison = compare(replace(windowed, figures=(*windowed.figures, *SLOW)), windowed)

    assert comparison.whole is not None
    assert comparison.whole.id == "window_shares.whole"
    assert [(piece.key, piece.change) for piece in comparison.carriers] == [("computing", 0.0), ("idle", 0.0)]


def test_runs_that_share_no_whole_cannot_be_compared() -> None:
    skipped = Skipped("gpu_time", "the trace holds no GPU work", None)

    comparison = compare(snapshot(*SLOW), snapshot(skipped=(skipped,)))

    assert comparison.whole is None
    assert comparison.one_sided == (OneSided("gpu_time", "after", "the trace holds no GPU work", None),)


def test_a_question_open_in_both_runs_is_not_one_sided() -> None:
    skipped = Skipped("steps", "no steps", None)

    assert compare(snapshot(skipped=(skipped,)), snapshot(skipped=(skipped,))).one_sided == ()


def test_conditions_that_differ_stand_against_a_comparison_the_forbidding_first() -> None:
    def version(value: str) -> Condition:
        return Condition("nsys_version", "Nsight Systems", value, Bearing.CAUTIONS)

    before = snapshot(conditions=(version("2025.1"), gpu_model("A100")))
    after = snapshot(conditions=(version("2026.2"), gpu_model("H100")))

    assert compare(before, after).obstacles == (
        Obstacle("gpu_model", "GPU model", "A100", "H100", Bearing.FORBIDS),
        Obstacle("nsys_version", "Nsight Systems", "2025.1", "2026.2", Bearing.CAUTIONS),
    )
    assert compare(before, before).obstacles == ()


def test_what_only_one_run_knows_is_a_caution() -> None:
    before, after = snapshot(conditions=(gpu_model("A100"),)), snapshot(conditions=(gpu_model(None),))

    assert compare(before, after).obstacles == (Obstacle("gpu_model", "GPU model", "A100", None, Bearing.CAUTIONS),)
    assert compare(before, snapshot()).obstacles == compare(before, after).obstacles


def test_findings_are_matched_by_id_and_cause_whatever_their_title_says() -> None:
    def finding(found_id: str, cause: str | None, title: str) -> KeptFinding:
        return KeptFinding(found_id, cause, Severity.WARNING, title)

    before = (finding("exposed", "slow_link", "takes 8 ms"), finding("data_wait", "data_loading", "takes 30 ms"))
    after = (finding("exposed", "slow_link", "takes 9 ms"), finding("exposed", "contention", "takes 2 ms"))

    found = compare(snapshot(*SLOW, findings=before), snapshot(*FAST, findings=after)).findings

    assert found == FindingChanges(solved=(before[1],), new=(after[1],), kept=(after[0],))


OLD = KeptFinding("exposed", None, Severity.WARNING, "takes 8 ms", ("partition", "collectives"))
NEW = KeptFinding("data_wait", None, Severity.WARNING, "takes 30 ms", ("idle_causes",))


def test_findings_of_runs_that_are_two_different_things_are_neither_solved_nor_new() -> None:
    before = snapshot(*SLOW, conditions=(gpu_model("A100"),), findings=(OLD,))
    after = snapshot(*FAST, conditions=(gpu_model("H100"),), findings=(NEW,))

    assert compare(before, after).findings == FindingChanges((), (), (), before_only=(OLD,), after_only=(NEW,))


def test_findings_of_runs_that_share_no_whole_are_neither_solved_nor_new() -> None:
    found = compare(snapshot(*SLOW, findings=(OLD,)), snapshot()).findings

    assert found == FindingChanges((), (), (), before_only=(OLD,))


def test_a_finding_is_not_solved_where_its_question_is_not_answered_any_more() -> None:
    unanswered = (Skipped("collectives", "no rank is known", None),)
    before, after = snapshot(*SLOW, findings=(OLD, NEW)), snapshot(*FAST, skipped=unanswered)

    assert compare(before, after).findings == FindingChanges((NEW,), (), (), before_only=(OLD,))
    assert compare(after, before).findings == FindingChanges((), (NEW,), (), after_only=(OLD,))


def test_kernels_are_matched_by_name() -> None:
    before = snapshot(*kernel_figures("gemm", 40, 12), *kernel_figures("old", 3, 1))
    after = snapshot(*kernel_figures("new", 1, 1), *kernel_figures("gemm", 44, 12))

    kernels = compare(before, after).topic("step_kernels")

    assert [(one.name, one.before, one.after) for one in kernels] == [
        ("gemm", 40 * MS, 44 * MS),
        ("old", 3 * MS, None),
        ("new", None, 1 * MS),
    ]
