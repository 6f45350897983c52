"""One GPU computes slower than the others: they wait for it in every all-reduce."""

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

SCENARIO = Scenario(
    name="straggler_compute",
    summary="one rank's GPU is slow, the others wait in the all-reduce",
    cause="clock_throttle",
    bottleneck_class=BottleneckClass.COMPUTE,
    knobs=Knobs(straggler=Knobs(kernel_slowdown=1.4)),
    without=Knobs(),
    least_rank_count=2,
)
