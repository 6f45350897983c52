"""How uneven all-to-alls are, counted by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nsysan.analysis.collectives import Collectives
from nsysan.attribution.collectives.exchanges import Skew, skew_of
from nsysan.attribution.collectives.operations import Operations
from nsysan.model.tables import ABSENT
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import all_scenarios
from tests.runs import result_of

if TYPE_CHECKING:
    from pathlib import Path


def operations(sent: list[int], received: list[int]) -> Operations:
    columns = {name: np.zeros(len(sent), np.int64) for name in Operations.concatenate([]).columns()}
    return Operations(**{**columns, "size_bytes": np.array(sent), "received_bytes": np.array(received)})


@pytest.mark.parametrize(
    ("sent", "received", "table", "skew"),
    [
        # C40: of four ranks that each send 1 the first gets 3
        ([1, 1, 1, 1], [3, 1, 0, 0], [[0, 1, 2, 3]], Skew(3.0, 0)),
        # and what it got it sends back: in both it moves 3 of 1
        ([1, 1, 3, 1], [3, 1, 1, 1], [[0, 1], [2, 3]], Skew((3 + 3) / (1 + 2), 0)),
        ([4, 4], [4, 4], [[0, 1]], Skew(1.0, 0)),
        # what is not told to come in is left out, and what is not told to go out says nothing
        ([2, 6], [ABSENT, ABSENT], [[0, 1]], Skew(1.5, 1)),
        ([2, ABSENT], [2, 2], [[0, 1]], None),
        ([0, 0], [0, 0], [[0, 1]], None),
        # a rank is missing
        ([2, 6], [2, 6], [[0, -1]], None),
    ],
)
def test_the_busiest_rank_over_the_mean(
    sent: list[int], received: list[int], table: list[list[int]], skew: Skew | None
) -> None:
    assert skew_of(operations(sent, received), np.array(table)) == skew


@pytest.mark.parametrize("rank_count", [2, 4])
def test_a_hot_expert_is_named_with_its_load(tmp_path: Path, rank_count: int) -> None:
    """Rank 1's expert gets 1.5 times its even share, and sends it back."""
    [scenario] = [found for found in all_scenarios() if found.name == "moe_skew"]
    generated = generate(Request(scenario=scenario, rank_count=rank_count, step_count=2, includes_blobs=True))
    run = analyze([export.write(tmp_path / name) for name, export in generated.exports.items()], AnalyzeOptions())

    rows = {row.kind: row for row in result_of(run, Collectives).collectives}

    assert rows["send_recv"].skew_ratio == pytest.approx(1.5, rel=1e-3)
    assert rows["send_recv"].busiest_rank == 1
    assert (rows["all_reduce"].skew_ratio, rows["all_reduce"].busiest_rank) == (None, None)
