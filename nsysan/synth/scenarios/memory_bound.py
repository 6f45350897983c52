"""Elementwise kernels stream activations for most of the step: what bounds them is the memory of the GPU."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(layer_count=2, streaming_count=1_200)

SCENARIO = Scenario(
    name="memory_bound",
    summary="elementwise kernels that the memory of the GPU bounds take most of the step",
    cause="non_gemm",
    bottleneck_class=BottleneckClass.MEMORY,
    knobs=_KNOBS,
    without=replace(_KNOBS, streaming_count=0),
)
