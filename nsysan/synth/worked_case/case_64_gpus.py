"""64 GPUs of one node, on a link of 22 GB/s: each simulated rank stands for 16 alike."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs
from nsysan.synth.training.parallelism.accumulation import ACCUMULATING


def with_slower_rank(knobs: Knobs) -> Knobs:
    """The same with a rank that takes 3 % longer, as some always do: part of the exposed communication is waiting."""
    return replace(knobs, straggler=replace(knobs, kernel_slowdown=1.033))


KNOBS = Knobs(layer_count=2, token_count=262_144, microbatch_count=2, bus_bytes_per_s=22e9, alike_ranks=16)

SCENARIO = Scenario(
    name="case_64_gpus",
    summary="worked case: 64 GPUs of one node",
    cause="exposed_collective",
    bottleneck_class=BottleneckClass.COMMUNICATION,
    knobs=with_slower_rank(KNOBS),
    parallelism=ACCUMULATING,
    least_rank_count=2,
)
