"""Nothing holds the job back, but one rank serves the others: broadcast, scatter, reduce and gather in each step."""

from nsysan.synth.knobs import Knobs
from nsysan.synth.parallelism.rooted import ROOTED
from nsysan.synth.scenario import Scenario

SCENARIO = Scenario(
    name="rooted_collectives",
    summary="healthy; one rank hands out the batch and collects statistics",
    knobs=Knobs(),
    parallelism=ROOTED,
    least_rank_count=2,
)
