"""Activations are not kept: the backward computes each layer's forward again."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(recomputes=True)

SCENARIO = Scenario(
    name="recomputation",
    summary="activations are computed again in the backward",
    cause="recomputation",
    bottleneck_class=BottleneckClass.MEMORY,
    knobs=_KNOBS,
    without=replace(_KNOBS, recomputes=False),
)
