"""Jobs that have a little of a cause, too little to hold them back: nobody is warned of it.

The knobs are those of the scenario with the cause turned down to where it hides behind computing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from nsysan.model.verdicts import Severity
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import find_scenario
from nsysan.synth.trace_kind import USUAL_KINDS, TraceKind
from nsysan.synth.training.knobs import Knobs

if TYPE_CHECKING:
    from pathlib import Path

NEAR_MISSES: dict[str, dict[str, Any]] = {
    "allocator": {"allocation_ns": 20_000},
    # what every step copies to the host is offloading
    "checkpoint": {"checkpoint_period": 1},
    "contention": {"contention_slowdown": 1.1, "bus_bytes_per_s": 450e9},
    "communication_bound": {"bus_bytes_per_s": 300e9},
    # the step computes for 113 ms, behind which the loader hides
    "data_bound": {"loader_ns": 90_000_000},
    "garbage_collection": {"pause_ns": 300_000},
    "launch_bound": {"python_ns": 0, "launch_ns": 500},
    "lazy_loading": {"module_load_ns": 20_000},
    # two of each three kernels of 0.1 ms could go, in a step of 86 ms
    "memory_bound": {"streaming_count": 3},
    "moe_skew": {"hot_expert_load": 1.01},
    "pageable_copies": {"pageable_bytes": 65_536},
    "recomputation": {"recomputes": False},
    "rotating_ranks": {"pause_ns": 300_000},
    "sync_bound": {"logging_ns": 1_000},
    "straggler_compute": {"straggler": Knobs(kernel_slowdown=1.01)},
    "straggler_loader": {"straggler": Knobs(loader_ns=90_000_000)},
    "tensor_parallel": {"bus_bytes_per_s": 20e12},
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_nobody_is_warned_of_what_hides(tmp_path: Path, name: str) -> None:
    scenario = find_scenario(name)
    near = replace(scenario, knobs=replace(scenario.knobs, **NEAR_MISSES[name]), without=None)
    # only counters show what memory bounds
    kinds = USUAL_KINDS | {TraceKind.METRICS} if name == "memory_bound" else USUAL_KINDS
    made = generate(Request(scenario=near, rank_count=2, step_count=4, kinds=kinds))

    run = analyze([export.write(tmp_path / file) for file, export in made.exports.items()], AnalyzeOptions())

    warned = {found.cause for found in run.findings if found.severity is not Severity.INFO}
    assert scenario.cause not in warned
    assert run.diagnosis.headline is None or run.diagnosis.headline.cause != scenario.cause
    assert "contention" not in {found.cause for found in run.findings}
