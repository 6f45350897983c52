"""Every third step ends with copies of weights and moments to the host, and no range says why."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(layer_count=3, checkpoint_period=3)

SCENARIO = Scenario(
    name="checkpoint",
    summary="every third step ends with copies of all states to the host, in no range",
    cause="checkpoint",
    bottleneck_class=BottleneckClass.SCHEDULING,
    knobs=_KNOBS,
    without=replace(_KNOBS, checkpoint_period=0),
)
