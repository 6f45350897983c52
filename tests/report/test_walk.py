"""The walk through the classes, what the headline leaves out, and the throughput, as page and text say them."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from nsysan.model.findings import Evidence, EvidencePlace, PlaceKind
from nsysan.model.losses import Basis, Bound
from nsysan.report.elements import Place
from nsysan.report.look_next import look_next
from nsysan.report.prose import Phrase, plain
from nsysan.report.sections.findings import SECTION as FINDINGS
from nsysan.report.sections.findings import FindingsView
from nsysan.report.sections.throughput import SECTION as THROUGHPUT_SECTION
from nsysan.report.sections.throughput import ThroughputView
from nsysan.report.walk import WalkStop, walk_details, walk_line, walk_of
from tests.report.diagnosed import DIAGNOSIS, LOSSES
from tests.report.runs import FINDING, full_run, run_of

RUN = replace(full_run(), diagnosis=DIAGNOSIS)


def test_the_classes_stand_in_their_order_with_share_and_state() -> None:
    assert walk_of(RUN) == (
        WalkStop("Compute", "compute_only", "unknown", "not known", None, "No shapes.", None),
        # 30 of 1,000 ms may be transfer or waiting
        WalkStop(
            "Communication",
            "exposed_communication",
            "unknown",
            "not known",
            "0.0 to 3.0 %",
            "No cause costs enough to be named.",
            None,
        ),
        WalkStop("Data", "data", "problem", "problem", "25.0 %", "The GPU waits for the data loader.", None),
        WalkStop("Memory", "memory", "ok", "ok", "0.0 %", "No cause costs enough to be named.", None),
        # the finding of the run is of this class
        WalkStop(
            "Scheduling", "scheduling", "problem", "problem", "4.0 %", "The host launches too slowly.", "finding-1"
        ),
    )


def test_the_text_has_it_in_one_sentence() -> None:
    assert walk_line(RUN) == (
        "Walk: compute not known, communication 0.0 to 3.0 % not known, data 25.0 % problem, memory 0.0 % ok, "
        "scheduling 4.0 % problem."
    )
    assert walk_line(run_of()) is None


def test_what_the_headline_leaves_out_is_said() -> None:
    assert [plain(sentence) for sentence in walk_details(RUN)] == [
        "Compute kernels run for 65.0 % of the mean step: for the rest the GPUs wait.",
        "Exposed waiting for other ranks takes 60.000 ms (6.0 %) a step, charged to what they did.",
        "Next by size: scheduling with 4.0 %, then communication with 3.0 %. The walk meets memory first (3.0 %).",
    ]
    assert walk_details(replace(run_of(LOSSES), diagnosis=replace(DIAGNOSIS, headline=None))) == ()


def test_evidence_leads_into_the_timeline() -> None:
    place = EvidencePlace(PlaceKind.GAP, "gpu1", 2_125_000_000, 2_250_000_000)
    evidence = (Evidence("One gap has half of it", "idle_gaps", place),)
    finding = msgspec.structs.replace(FINDING, evidence=evidence, bound=Bound.AT_MOST)
    run = replace(RUN, findings=(finding,))

    view = FINDINGS.build(run)
    following = look_next(run)

    assert isinstance(view, FindingsView)
    (shown,) = view.findings
    assert shown.bound == "at most"
    assert shown.evidence == (
        (
            Phrase("One gap has half of it."),
            Phrase(" "),
            Phrase("2.125000000s on gpu1", place=Place("gap", "gpu1", 2_125_000_000, 2_250_000_000)),
        ),
    )
    assert following is not None
    assert (
        plain(following)
        == "Look next at the gap with most of this loss: 125.000 ms from 2.125000000s on gpu1 (rank 1)."
    )


def test_evidence_keeps_the_names_it_begins_with() -> None:
    evidence = (Evidence("nvjet_tst: 8.091 ms beside communication", "contention"),)
    view = FINDINGS.build(replace(RUN, findings=(msgspec.structs.replace(FINDING, evidence=evidence),)))

    assert isinstance(view, FindingsView)
    assert view.findings[0].evidence == ((Phrase("nvjet_tst: 8.091 ms beside communication."),),)


@pytest.mark.parametrize(
    ("basis", "unit"),
    [(Basis.STEPS, "ns a step"), (Basis.AFTER_START_UP, "ns after start-up"), (Basis.WINDOW, "ns in all")],
)
def test_amounts_say_what_they_are_of(basis: Basis, unit: str) -> None:
    """What starting up costs is no part of a steady run: nothing is won after it, though there was much in all."""
    losses = replace(LOSSES, step_losses=replace(LOSSES.step_losses, basis=basis))
    run = run_of(losses)
    view = FINDINGS.build(replace(run, findings=(msgspec.structs.replace(FINDING, recoverable_ns=0),)))

    assert isinstance(view, FindingsView)
    assert (view.findings[0].amount, view.findings[0].unit) == ("0", unit)


def test_throughput_is_told_with_its_conventions_and_what_it_was_counted_from() -> None:
    view = THROUGHPUT_SECTION.build(RUN)

    assert isinstance(view, ThroughputView)
    assert view.heading == (
        "8,192 tokens a second, MFU 30.0 % (causal attention), MFU 35.0 % (full attention), 4.00 an hour"
    )
    assert view.sentences == (
        "Efficiency 75.0 % of 1 GPU, a token (compute 0.900 x exposed communication 0.950 x waiting 0.877).",
        # 1 / 0.75 - 1 of the time, a quarter of 2 GPUs at 2 an hour
        (
            "At 75.0 % efficiency as much work takes 33.3 % more wall time than at that of 1 GPU: the gap is 0.5 of 2 "
            "GPU-hours an hour, 1.00 of 4.00 in money."
        ),
        "Peak of one GPU: 989.0 TFLOP/s dense of bf16, given with --peak.",
        "8,192 tokens a step on 2 GPUs.",
        "7,372,800 tokens for one unit of the price.",
    )
    assert [[cell.text for cell in row] for row in view.tables[1].rows] == [
        ["data loading", "data loading", "25.0 %", "0.50", "1.00"]
    ]
