"""The allocator finds no room: in every layer it frees memory, which waits for the GPU, and asks for more."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(layer_count=8, token_count=4_096, allocation_ns=1_500_000)

SCENARIO = Scenario(
    name="allocator",
    summary="memory is freed and allocated inside the steps",
    cause="allocator",
    bottleneck_class=BottleneckClass.MEMORY,
    knobs=_KNOBS,
    without=replace(_KNOBS, allocation_ns=0),
)
