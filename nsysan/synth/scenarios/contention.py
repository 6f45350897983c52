"""Kernels of the backward take longer beside the all-reduce of gradients, with which they share the GPU."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(bus_bytes_per_s=12e9, contention_slowdown=1.25)
SCENARIO = Scenario(
    name="contention",
    summary="the all-reduce outlasts the backward, and compute kernels are slower beside it",
    cause="exposed_collective",
    bottleneck_class=BottleneckClass.COMMUNICATION,
    knobs=_KNOBS,
    without=replace(_KNOBS, bus_bytes_per_s=None),
    least_rank_count=2,
)
