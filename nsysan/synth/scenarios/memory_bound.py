"""Elementwise kernels in a row, each of which writes what the next reads: the memory of the GPU bounds them."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(layer_count=3, streaming_count=128)

SCENARIO = Scenario(
    name="memory_bound",
    summary="long rows of elementwise kernels, bound by the memory of the GPU, that could be one each",
    cause="non_gemm",
    bottleneck_class=BottleneckClass.MEMORY,
    knobs=_KNOBS,
    without=replace(_KNOBS, streaming_count=1),
)
