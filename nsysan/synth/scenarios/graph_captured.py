"""Nothing holds the job back, but its layers run as CUDA graphs: what computes in them is not recorded."""

from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs

SCENARIO = Scenario(
    name="graph_captured",
    summary="healthy, with each layer in a CUDA graph recorded as a whole",
    knobs=Knobs(captures_layers=True),
)
