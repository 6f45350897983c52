"""Nothing holds the job back, and it computes on two streams at once."""

from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs
from nsysan.synth.training.parallelism.branches import BRANCHED

SCENARIO = Scenario(
    name="parallel_branches",
    summary="healthy, with attention and feed-forward part on a stream each",
    knobs=Knobs(),
    parallelism=BRANCHED,
)
