"""Where the loss that holds a job back is seen."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from nsysan.analysis.gpu_time import StartUp
from nsysan.model.findings import Evidence, EvidencePlace, PlaceKind
from nsysan.model.losses import Basis
from nsysan.report.elements import Place
from nsysan.report.place_of_loss import place_of_loss
from tests.report.diagnosed import LOSSES
from tests.report.drawn_lanes import TIMELINE
from tests.report.gpu_times import FIRST_CAUSES, FIRST_TIME, TWO_GPUS, device, gpu, gpu_time
from tests.report.recorded import STEPS
from tests.report.runs import FINDING, run_of

MS = 1_000_000
BEGIN_NS = 2_220 * MS
WITHOUT_STEPS = replace(LOSSES, step_losses=replace(LOSSES.step_losses, basis=Basis.AFTER_START_UP))
ONE = gpu("gpu0", FIRST_TIME, causes=FIRST_CAUSES)
STARTED_UP = gpu_time((ONE,), (device("gpu0/p100", ONE, start_up=StartUp(2_100 * MS, FIRST_CAUSES)),))
AFTER_START_UP = ("the time after start-up", Place("part", "gpu0", 2_100 * MS, 3_000 * MS))


@pytest.mark.parametrize(
    ("lasts_ms", "seen"),
    [
        # 5 % of the 150 ms that are lost are 7.5 ms; step 2 is from 2,200 to 2,300 ms
        (8, ("the gap with most of this loss", Place("gap", "gpu0", BEGIN_NS, 2_228 * MS))),
        (7, ("a step with this loss", Place("step", "gpu0", 2_200 * MS, 2_300 * MS))),
    ],
)
def test_where_a_gap_is_one_of_very_many_their_step_shows_the_loss(lasts_ms: int, seen: tuple[str, Place]) -> None:
    place = EvidencePlace(PlaceKind.GAP, "gpu0", BEGIN_NS, BEGIN_NS + lasts_ms * MS)
    finding = msgspec.structs.replace(FINDING, evidence=(Evidence("One gap", "idle_gaps", place),))

    assert place_of_loss(run_of(TWO_GPUS, STEPS, LOSSES, TIMELINE), finding) == seen


def test_without_steps_it_is_all_the_time_that_is_judged() -> None:
    short = EvidencePlace(PlaceKind.GAP, "gpu0", BEGIN_NS, BEGIN_NS + MS)
    of_short = msgspec.structs.replace(FINDING, evidence=(Evidence("One gap", "idle_gaps", short),))
    run = run_of(STARTED_UP, WITHOUT_STEPS, TIMELINE)

    assert [place_of_loss(run, finding) for finding in (FINDING, of_short)] == [AFTER_START_UP] * 2


def test_where_nothing_longer_is_known_the_gap_is_kept_and_without_it_there_is_nothing() -> None:
    short = EvidencePlace(PlaceKind.GAP, "gpu0", BEGIN_NS, BEGIN_NS + MS)
    of_short = msgspec.structs.replace(FINDING, evidence=(Evidence("One gap", "idle_gaps", short),))

    assert place_of_loss(run_of(TWO_GPUS), FINDING) is None
    assert place_of_loss(run_of(TWO_GPUS), of_short) == (
        "the gap with most of this loss",
        Place("gap", "gpu0", BEGIN_NS, BEGIN_NS + MS),
    )
