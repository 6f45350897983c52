"""Measures against reductions across nodes: when there are any, and what each is reckoned to win."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.attribution.collectives.ranks import RankChoice
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.planning.measures import Group, shared_inside_nodes_frac
from nsysan.synth.generate import generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import Request
from nsysan.synth.scenario import find_scenario

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.findings import Finding
    from nsysan.synth.scenario import Scenario


def found_in(folder: Path, scenario: Scenario, rank_count: int) -> list[Finding]:
    request = Request(scenario=scenario, rank_count=rank_count, step_count=3, layout=Layout.PER_RANK)
    paths = [export.write(folder / name) for name, export in generate(request).exports.items()]
    run = analyze(paths, AnalyzeOptions(ranks=RankChoice(world_size=rank_count)))
    return [finding for finding in run.findings if finding.id == "across_nodes"]


@pytest.mark.parametrize(("ranks_per_node", "found_count"), [(2, 1), (4, 0)], ids=["two nodes", "one node"])
def test_only_what_crosses_nodes_is_told(tmp_path: Path, ranks_per_node: int, found_count: int) -> None:
    scenario = replace(find_scenario("communication_bound"), ranks_per_node=ranks_per_node)

    found = found_in(tmp_path, scenario, 4)

    assert len(found) == found_count
    assert [finding.recoverable_ns for finding in found] == [None] * found_count
    # all ranks of one node each: no more ranks than nodes, and nothing to share inside; one backward a step
    assert ["accumulate over twice" in " ".join(one.sentence for one in finding.evidence) for finding in found] == [
        True
    ] * found_count


def test_a_rank_a_node_has_nobody_to_share_the_model_with(tmp_path: Path) -> None:
    [finding] = found_in(tmp_path, replace(find_scenario("communication_bound"), ranks_per_node=1), 2)

    measures = [one.sentence for one in finding.evidence if one.sentence.startswith("Measure")]
    assert [re.findall(r"Measure \d: (\w+)", sentence) for sentence in measures] == [["accumulate"]]


@pytest.mark.parametrize(("ranks", "nodes"), [(128, 2), (64, 8), (16, 16)])
def test_bytes_over_a_link_are_those_of_the_rings(ranks: int, nodes: int) -> None:
    """By counting: a ring all-reduce sends each of n chunks n - 1 times to be summed and n - 1 times to be shared."""

    def over_a_link(members: int, size: float) -> float:
        return 2 * (members - 1) * size / members

    share_count = ranks // nodes
    shared = sum(over_a_link(nodes, 1.0 / share_count) for _ in range(share_count))
    assert shared_inside_nodes_frac(Group(ranks, nodes)) == pytest.approx(shared / over_a_link(ranks, 1.0))
