"""Every layer copies a mask from pageable memory: the host waits for the copy, and cannot launch ahead."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(layer_count=8, token_count=4_096, pageable_bytes=12_000_000)

SCENARIO = Scenario(
    name="pageable_copies",
    summary="blocking copies from pageable memory in every layer",
    cause="blocking_copy",
    bottleneck_class=BottleneckClass.MEMORY,
    knobs=_KNOBS,
    without=replace(_KNOBS, pageable_bytes=0),
)
