"""The verdict of each synthetic scenario, as a new reader would take it: what dominates, and where.

What is expected is what the scenario says of itself, not what nsysan said of it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nsysan.cli.main import main
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.report.look_next import look_next
from nsysan.report.prose import plain
from nsysan.report.verdict import state_verdict

COMMUNICATION = "exposed communication, transfer or waiting, took"
BUSY = r"computed for 9[0-9]\.[0-9] %"
LONGEST = "the longest exposed communication"
KERNEL = "the longest run of the kernel with most time"

SCENARIOS = [
    ("allocator", "waited for the allocator", "", "waited longest for the allocator"),
    ("communication-bound", COMMUNICATION, "", LONGEST),
    ("compute-bound", BUSY, "", KERNEL),
    ("compute-sound", BUSY, "", KERNEL),
    ("data-bound", "waited for the data loader", "", "waited longest for the data loader"),
    ("graph-captured", "CUDA graphs whose kernels are unknown took", "", "the longest opaque graph"),
    ("healthy", BUSY, "", KERNEL),
    ("launch-bound", "waited for the host to launch work", "", "waited longest for the host to launch work"),
    ("lazy-loading", "waited for code to be loaded", "", "waited longest for code to be loaded"),
    ("moe-skew", COMMUNICATION, "the others may have waited for it, while it computed", LONGEST),
    ("pageable-copies", "exposed copy took", "", "the longest exposed copy"),
    ("parallel-branches", BUSY, "", KERNEL),
    ("pipeline-bubble", COMMUNICATION, "", LONGEST),
    ("rooted-collectives", BUSY, "", KERNEL),
    ("straggler-compute", COMMUNICATION, "the others may have waited for it, while it computed", LONGEST),
    ("straggler-loader", COMMUNICATION, "may have waited for it, while it waited for the data loader", LONGEST),
    ("sync-bound", "waited for a host that synchronised", "", "waited longest for a host that synchronised"),
    ("tensor-parallel", COMMUNICATION, "", LONGEST),
]


@pytest.mark.parametrize(("scenario", "sentence", "detail", "place"), SCENARIOS)
def test_the_verdict_says_what_dominates_and_leads_there(
    tmp_path: Path, scenario: str, sentence: str, detail: str, place: str
) -> None:
    assert main(["synth", scenario, "-o", str(tmp_path), "--steps", "4"]) == 0

    run = analyze([tmp_path / f"{scenario}.sqlite"], AnalyzeOptions())

    verdict, following = state_verdict(run), look_next(run)
    assert re.search(sentence, verdict.sentence)
    assert detail in " ".join(plain(each) for each in verdict.details)
    assert following is not None
    assert place in plain(following)
