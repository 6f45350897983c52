"""Kernels are shorter than the time the host needs to launch them: the GPU waits for the next one."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

_KNOBS = Knobs(
    hidden_size=1_024,
    token_count=512,
    python_ns=20_000,
    launch_ns=6_000,
    # no network is so fast: so small a model would wait for its gradients too, and is to wait for launches alone
    bus_bytes_per_s=9e12,
)

SCENARIO = Scenario(
    name="launch_bound",
    summary="many small kernels, launched too slowly",
    cause="launch_starved",
    bottleneck_class=BottleneckClass.SCHEDULING,
    knobs=_KNOBS,
    without=replace(_KNOBS, python_ns=0, launch_ns=1_000),
)
