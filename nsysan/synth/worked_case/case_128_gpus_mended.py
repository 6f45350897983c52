"""The 128 GPUs with the model shared inside nodes, gradients reduced once a step, and batches at hand.

What ranks of a node tell each other to share the model is not simulated; products of narrower matrices are slower.
"""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.synth.scenario import Scenario
from nsysan.synth.training.parallelism.accumulation import ACCUMULATING
from nsysan.synth.worked_case.case_64_gpus import with_slower_rank
from nsysan.synth.worked_case.case_128_gpus import KNOBS as BEFORE

KNOBS = replace(
    BEFORE,
    gradient_share=0.5,
    reduces_each_part=False,
    contention_slowdown=1.0,
    gemm_efficiency=0.94,
    loader_ns=200_000,
)

SCENARIO = Scenario(
    name="case_128_gpus_mended",
    summary="worked case: the 128 GPUs after three measures",
    knobs=with_slower_rank(KNOBS),
    parallelism=ACCUMULATING,
    least_rank_count=2,
    ranks_per_node=2,
)
