"""The same on two nodes with 25 Gb/s between them: one ring over all ranks, each simulated one standing for 32."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.parallelism.accumulation import ACCUMULATING
from nsysan.synth.worked_case.case_64_gpus import KNOBS as ON_ONE_NODE
from nsysan.synth.worked_case.case_64_gpus import with_slower_rank

KNOBS = replace(
    ON_ONE_NODE,
    bus_bytes_per_s=3.2e9,
    alike_ranks=32,
    contention_slowdown=2.0,
    loader_ns=42_000_000,
)

SCENARIO = Scenario(
    name="case_128_gpus",
    summary="worked case: twice the GPUs, on two nodes, and hardly faster",
    cause="exposed_collective",
    bottleneck_class=BottleneckClass.COMMUNICATION,
    knobs=with_slower_rank(KNOBS),
    parallelism=ACCUMULATING,
    least_rank_count=2,
    ranks_per_node=2,
)
