"""The loader takes longer than the step: the GPU waits for its batch."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(loader_ns=180_000_000)

SCENARIO = Scenario(
    name="data_bound",
    summary="the data loader is slower than the GPU",
    cause="data_loading",
    bottleneck_class=BottleneckClass.DATA,
    knobs=_KNOBS,
    without=replace(_KNOBS, loader_ns=0),
)
