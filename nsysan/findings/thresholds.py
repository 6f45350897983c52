"""The thresholds of the rules and of the verdict, all in one place, each with where it comes from.

``docs/diagnosis.md`` repeats them as a table. Those called proposals are nobody's figure but ours.
"""

MATERIAL_FRAC = 0.02
"""Of a step: what wins less is said as information, and makes no headline. From nsysan's design."""
NAMED_FRAC = 0.01
"""Of a step: a smaller loss is no finding; the walk still has its share. Proposal: a healthy run idles for as much."""
CRITICAL_FRAC = 0.10
"""Of a step: what wins more is critical. Proposal: the size of the regressions that teams stop a job for."""
BUSY_FRAC = 0.90
"""Of a step: a GPU that computes for so much of it is computing, not waiting (TraceML issue 212)."""
NON_GEMM_FRAC = 0.30
"""Of compute kernels' time: more in kernels that neither multiply nor attend is worth fusing. Proposal."""
SHORT_KERNEL_NS = 10_000
"""A kernel this short is over before the next launch call returns (nsys-ai's book of root causes)."""
MOSTLY_FRAC = 0.5
"""More than half, where a sentence says "mostly"."""
ADVISED_FRAC = 0.10
"""Of exposed communication: transfers with less are no reason for advice about their kind. Proposal."""
SLOWED_FACTOR = 1.15
"""Beside communication: kernels that take so many times longer contend with it (nccl issue 1433); proposal."""
SLOW_LINK_FRAC = 0.7
"""Of a measured curve: collectives that reach less have a slow link or a wrong transport. Proposal."""
SAME_STREAM_FRAC = 0.5
"""Of the time of communication kernels: on the stream that computes; one stray kernel says nothing (nsys-ai 134)."""
ROTATING_FRAC = 0.05
"""Of a step: ranks that take turns being late are said from so much exposed waiting on. Proposal."""
CONTEXT_FRAC = 0.02
"""Of the window: a process that was not recorded held the GPU for so much of it. As MATERIAL_FRAC."""
PERIOD_TOLERANCE_FRAC = 0.25
"""Of a period in steps: pauses whose distances differ by no more come periodically (260 to 280 in marin 9205)."""
MEMORY_BOUND_FRAC = 0.6
"""Of the memory's bandwidth: kernels that move more are bound by it (the rule of Nsight Compute's speed of light)."""
