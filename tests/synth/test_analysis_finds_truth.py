"""What ``analyze`` says of a synthetic trace is what the simulation knows of it, to the nanosecond."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.analysis.gpu_time import GpuTime
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.files import write
from nsysan.synth.generate import Request, generate
from nsysan.synth.placement import Layout
from nsysan.synth.scenario import Scenario, all_scenarios
from tests.runs import result_of


@pytest.mark.parametrize(("schema", "layout"), [("3.7", Layout.PER_RANK), ("3.25", Layout.ONE)])
@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.name)
def test_the_partition_of_every_rank_is_found(scenario: Scenario, schema: str, layout: Layout, tmp_path: Path) -> None:
    generated = generate(Request(scenario=scenario, rank_count=3, step_count=3, schema=schema, layout=layout))
    *exports, _ = write(generated, tmp_path)

    found = result_of(analyze(exports, AnalyzeOptions()), GpuTime)

    assert {
        device.pid: (
            (device.device_id, device.window_start_ns, device.window_end_ns),
            device.time,
            (device.idle_gap_count, device.longest_idle_gap_ns),
        )
        for device in found.devices
    } == {
        rank.pid: (
            (rank.device_id, rank.window_start_ns, rank.window_end_ns),
            rank.time,
            (rank.idle_gap_count, rank.longest_idle_gap_ns),
        )
        for rank in generated.truth.ranks
    }
    assert len(found.gpus) == 3
