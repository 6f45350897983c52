"""Nothing holds the job back, and it computes on two streams at once."""

from nsysan.synth.knobs import Knobs
from nsysan.synth.parallelism.branches import BRANCHED
from nsysan.synth.scenario import Scenario

SCENARIO = Scenario(
    name="parallel_branches",
    summary="healthy, with attention and feed-forward part on a stream each",
    knobs=Knobs(),
    parallelism=BRANCHED,
)
