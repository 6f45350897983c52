"""GEMMs run at half the speed the GPU was measured to reach."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(gemm_efficiency=0.5)

SCENARIO = Scenario(
    name="compute_bound",
    summary="GEMMs at half their ceiling",
    cause="inefficient_gemm",
    bottleneck_class=BottleneckClass.COMPUTE,
    knobs=_KNOBS,
    without=replace(_KNOBS, gemm_efficiency=1.0),
)
