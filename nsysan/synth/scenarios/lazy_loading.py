"""Code is loaded when a kernel is first launched: the first step waits for it, later ones do not."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(module_load_ns=12_000_000)

SCENARIO = Scenario(
    name="lazy_loading",
    summary="the first step loads the code of its kernels",
    cause="module_loading",
    bottleneck_class=BottleneckClass.SCHEDULING,
    knobs=_KNOBS,
    without=replace(_KNOBS, module_load_ns=0),
)
