"""Nothing holds the job back: batches are ready, communication hides under the backward, GEMMs reach their ceiling."""

from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

SCENARIO = Scenario(
    name="healthy",
    summary="nothing holds the job back",
    knobs=Knobs(),
)
