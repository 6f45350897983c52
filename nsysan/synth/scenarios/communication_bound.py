"""Gradients take longer to reduce than the backward to compute: the rest of the all-reduce is exposed."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(bus_bytes_per_s=15e9)

SCENARIO = Scenario(
    name="communication_bound",
    summary="the all-reduce of gradients outlasts the backward",
    cause="exposed_collective",
    bottleneck_class=BottleneckClass.COMMUNICATION,
    knobs=_KNOBS,
    without=replace(_KNOBS, bus_bytes_per_s=None),
    least_rank_count=2,
)
