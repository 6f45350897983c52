"""The timer that docs offer writes what nsysan reads."""

from __future__ import annotations

import runpy
from pathlib import Path

from nsysan.ingest.evidence.reading import read_evidence
from nsysan.model.training_log import LogFormat, TrainingLog
from tests.project.repository import ROOT

TIMER = ROOT / "docs" / "step_timer.py"


def test_a_line_a_step_that_is_read_again(tmp_path: Path) -> None:
    timer = runpy.run_path(str(TIMER))["StepTimer"](tmp_path / "steps.jsonl", first_step=7)
    for samples in (32, 64):
        with timer.step(tokens=4096, samples=samples):
            pass

    [log] = read_evidence([tmp_path / "steps.jsonl"]).of(TrainingLog)

    assert log.format is LogFormat.TIMER
    assert [(step.step, step.tokens, step.samples) for step in log.steps] == [(7, 4096.0, 32.0), (8, 4096.0, 64.0)]
    first, second = log.steps
    assert first.step_ns
    assert (first.wall_ns or 0) <= (second.wall_ns or 0)


def test_it_is_short_enough_to_copy() -> None:
    assert len(TIMER.read_text("utf-8").splitlines()) <= 30
