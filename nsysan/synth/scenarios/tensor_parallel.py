"""Ranks that share layers sum their parts over a slow network: each all-reduce is on the critical path."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs
from nsysan.synth.training.parallelism.tensor import TENSOR_PARALLEL

_KNOBS = Knobs(bus_bytes_per_s=150e9)

SCENARIO = Scenario(
    name="tensor_parallel",
    summary="tensor and data parallelism; the former's all-reduces are exposed",
    cause="exposed_collective",
    bottleneck_class=BottleneckClass.COMMUNICATION,
    knobs=_KNOBS,
    parallelism=TENSOR_PARALLEL,
    without=replace(_KNOBS, bus_bytes_per_s=None),
    least_rank_count=2,
)
