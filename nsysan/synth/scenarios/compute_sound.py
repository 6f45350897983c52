"""The twin of compute_bound: the GPU computes all the time, and its GEMMs do reach their ceiling."""

from msgspec.structs import replace

from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(gemm_efficiency=0.995)

SCENARIO = Scenario(
    name="compute_sound",
    summary="the sound twin of compute-bound: GEMMs reach their ceiling",
    knobs=_KNOBS,
    without=replace(_KNOBS, gemm_efficiency=1.0),
)
