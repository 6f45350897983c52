"""Every third step another rank's host pauses, and no range says why: as Python's garbage collector does."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(layer_count=3, reads_loss=True, pause_ns=120_000_000, pause_period=3)

SCENARIO = Scenario(
    name="garbage_collection",
    summary="every third step another rank pauses, in no range; the others wait for it",
    cause="garbage_collection",
    bottleneck_class=BottleneckClass.SCHEDULING,
    knobs=_KNOBS,
    without=replace(_KNOBS, pause_ns=0),
    least_rank_count=2,
)
