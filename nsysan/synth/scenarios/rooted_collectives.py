"""Nothing holds the job back, but one rank serves the others: broadcast, scatter, reduce and gather in each step."""

from nsysan.synth.scenario import Scenario
from nsysan.synth.training.knobs import Knobs
from nsysan.synth.training.parallelism.rooted import ROOTED

SCENARIO = Scenario(
    name="rooted_collectives",
    summary="healthy; one rank hands out the batch and collects statistics",
    knobs=Knobs(),
    parallelism=ROOTED,
    least_rank_count=2,
)
