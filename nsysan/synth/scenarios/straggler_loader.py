"""One rank's loader is slower than the step: its GPU waits for the batch, the others wait for that GPU."""

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

SCENARIO = Scenario(
    name="straggler_loader",
    summary="one rank's data loader is slow, the others wait in the all-reduce",
    cause="data_loading",
    bottleneck_class=BottleneckClass.DATA,
    knobs=Knobs(straggler=Knobs(loader_ns=180_000_000)),
    without=Knobs(),
    least_rank_count=2,
)
