"""What evidence says agrees with the finding that it is of, and is said once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import find_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.findings import Finding

RANKS, STEPS = 4, 6


def finding(folder: Path, scenario: str, rule: str, step_count: int = STEPS) -> Finding:
    made = generate(Request(scenario=find_scenario(scenario), rank_count=RANKS, step_count=step_count))
    run = analyze([export.write(folder / file) for file, export in made.exports.items()], AnalyzeOptions())
    [found] = [found for found in run.findings if found.id == rule]
    return found


def test_transfers_that_others_wait_in_are_told_without_the_waiting(tmp_path: Path) -> None:
    found = finding(tmp_path, "moe-skew", "exposed_communication")

    told = [re.search(r"at most ([\d.]+) (m?)s is no waiting", one.sentence) for one in found.evidence]
    most_ns = sum(float(one[1]) * (1e6 if one[2] else 1e9) for one in told if one is not None)
    # summed over ranks, and over all steps: little more than what a step would win without any transfer
    assert most_ns / RANKS / STEPS == pytest.approx(found.recoverable_ns, rel=0.2)


def test_a_kernel_of_several_grids_is_told_once(tmp_path: Path) -> None:
    found = finding(tmp_path, "contention", "contended")

    names = [name for one in found.evidence for name in one.kernels]
    assert len(names) == len(set(names)) == 3


def test_ranks_that_pause_in_turn_lose_more_together_than_any_alone(tmp_path: Path) -> None:
    turns = "not the same device that loses it in every step"
    pausing = finding(tmp_path, "garbage-collection", "garbage_collection", step_count=13)
    slow = finding(tmp_path, "straggler-loader", "data_loading")

    assert turns in pausing.evidence[0].sentence
    assert turns not in slow.evidence[0].sentence
