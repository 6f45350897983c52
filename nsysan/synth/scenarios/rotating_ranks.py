"""In every step another rank's host pauses: jitter, and no bad node."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(layer_count=3, reads_loss=True, pause_ns=30_000_000)

SCENARIO = Scenario(
    name="rotating_ranks",
    summary="in every step another rank pauses; the others wait for it",
    cause="launch_starved",
    bottleneck_class=BottleneckClass.SCHEDULING,
    knobs=_KNOBS,
    without=replace(_KNOBS, pause_ns=0),
    least_rank_count=2,
)
