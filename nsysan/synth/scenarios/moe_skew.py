"""The tokens of a mixture of experts want one expert more than the others, whose ranks wait for its answers."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs
from nsysan.synth.training.parallelism.expert import EXPERT_PARALLEL

_KNOBS = Knobs(
    hot_expert_load=1.5,
    # so wide a model and so fast a link that exchanges among even experts, which nothing hides, are hardly a loss
    layer_count=2,
    hidden_size=8_192,
    bus_bytes_per_s=900e9,
)

SCENARIO = Scenario(
    name="moe_skew",
    summary="one rank's expert gets more tokens, the others wait in the all-to-all",
    cause="moe_skew",
    bottleneck_class=BottleneckClass.COMPUTE,
    knobs=_KNOBS,
    parallelism=EXPERT_PARALLEL,
    without=replace(_KNOBS, hot_expert_load=1.0),
    least_rank_count=2,
)
