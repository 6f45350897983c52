"""The host reads a value back after every layer: it cannot launch ahead, and the GPU idles while it logs."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(layer_count=8, token_count=4_096, logging_ns=800_000, logs_each_layer=True, reads_back=True)

SCENARIO = Scenario(
    name="sync_bound",
    summary="the host waits for the GPU after every layer",
    cause="host_sync",
    bottleneck_class=BottleneckClass.SCHEDULING,
    knobs=_KNOBS,
    without=replace(_KNOBS, reads_back=False),
)
