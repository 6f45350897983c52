"""Stages tile steps: whatever runs when and whatever its stage is, against a look at every single nanosecond."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.attribution.activities import Activities, in_order
from nsysan.attribution.job import occupancy_of
from nsysan.attribution.stages.codes import SOURCES, STAGES, UNASSIGNED
from nsysan.attribution.stages.tiles import NOT_ASSIGNED, device_stages, step_stages_ns
from nsysan.attribution.stages.work_stages import WorkStages
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.partition import Activity, Part, part_of

KINDS = (Activity.COMPUTE, Activity.FUSED, Activity.GRAPH, Activity.COMMUNICATION, Activity.COPY)
Work = tuple[int, int, int, int]
works = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 12), st.integers(0, len(KINDS) - 1), st.integers(-1, 2)),
    min_size=1,
    max_size=9,
)


@pytest.mark.usefixtures("mode")
@given(works, st.sets(st.integers(0, 45), min_size=2, max_size=5))
def test_every_nanosecond_has_the_stage_and_part_that_a_plain_look_finds(drawn: list[Work], cuts: set[int]) -> None:
    activities = in_order(
        Activities(
            start_ns=np.array([start for start, *_ in drawn]),
            end_ns=np.array([start + length for start, length, *_ in drawn]),
            kind=np.array([int(KINDS[kind]) for _, _, kind, _ in drawn], np.uint8),
            report=np.zeros(len(drawn), np.int32),
            source=np.zeros(len(drawn), np.int8),
            row=np.arange(len(drawn)),
        )
    )
    window = int(activities.start_ns.min()), int(activities.end_ns.max())
    bounds = sorted({min(max(cut, window[0]), window[1]) for cut in cuts})
    if len(bounds) < 2:
        return
    stage = np.array([drawn[row][3] for row in activities.row])
    steps = DeviceSteps(np.array(bounds), np.empty(0, np.int64))
    found = WorkStages(stage, np.where(stage == UNASSIGNED, UNASSIGNED, 1))

    labels = device_stages(activities, found)
    times = step_stages_ns(steps, labels, occupancy_of(activities, window), None)

    assert times.tolist() == _plainly(drawn, bounds).tolist()


def _plainly(drawn: list[Work], bounds: list[int]) -> np.ndarray:
    times = np.zeros((len(bounds) - 1, NOT_ASSIGNED + 1, len(Part)), np.int64)
    for step, (begin, end) in enumerate(pairwise(bounds)):
        for moment in range(begin, end):
            running = [work for work in drawn if work[0] <= moment < work[0] + work[1]]
            kinds = Activity(sum({int(KINDS[kind]) for _, _, kind, _ in running}))
            part = tuple(Part).index(part_of(kinds))
            times[step, _label(_holder(drawn, moment)), part] += 1
    return times


def _holder(drawn: list[Work], moment: int) -> Work:
    """What gives the moment its stage: of what runs, or will run next, the first kind, then the first begun."""
    while True:
        running = [(place, work) for place, work in enumerate(drawn) if work[0] <= moment < work[0] + work[1]]
        if running:
            return min(running, key=lambda entry: (entry[1][2], entry[1][0], -entry[1][1], entry[0]))[1]
        moment += 1


def _label(work: Work) -> int:
    return NOT_ASSIGNED if work[3] == UNASSIGNED else work[3] * len(SOURCES) + 1


def test_labels_are_stages_by_source_and_one_for_none() -> None:
    assert len(STAGES) * len(SOURCES) == NOT_ASSIGNED
