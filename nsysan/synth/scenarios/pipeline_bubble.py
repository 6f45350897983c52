"""A pipeline with few parts: its stages wait for their first, and for the others once their last has gone."""

from msgspec.structs import replace

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs
from nsysan.synth.training.parallelism.pipeline import PIPELINE_PARALLEL

_KNOBS = Knobs(microbatch_count=4)

SCENARIO = Scenario(
    name="pipeline_bubble",
    summary="a 1F1B pipeline whose stages wait for each other",
    cause="pipeline_bubble",
    bottleneck_class=BottleneckClass.SCHEDULING,
    knobs=_KNOBS,
    parallelism=PIPELINE_PARALLEL,
    without=replace(_KNOBS, stages_wait=False),
    least_rank_count=2,
)
