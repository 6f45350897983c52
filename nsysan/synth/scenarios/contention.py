"""Kernels of the backward take longer beside the all-reduce of gradients, with which they share the GPU."""

from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

SCENARIO = Scenario(
    name="contention",
    summary="healthy, but compute kernels are slower beside the all-reduce",
    knobs=Knobs(bus_bytes_per_s=12e9, contention_slowdown=1.25),
    least_rank_count=2,
)
