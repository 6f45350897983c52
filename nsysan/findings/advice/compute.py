"""What to do about slow computing."""

from __future__ import annotations

from nsysan.findings.advice.piece import Advice
from nsysan.model.losses import CLOCK_THROTTLE, INEFFICIENT_GEMM, MOE_SKEW, NON_GEMM, SLOW_COMPUTE

COMPUTE = (
    Advice(
        id="check_clock",
        causes=frozenset({CLOCK_THROTTLE}),
        sentence="Look at this GPU's clock, temperature and power cap (nvidia-smi -q -d PERFORMANCE,CLOCK,POWER), and "
        "take the node out of the job until it is cured.",
    ),
    Advice(
        id="compare_gpu",
        causes=frozenset({SLOW_COMPUTE}),
        sentence="Compare this rank's input and GPU with the others': longer sequences, another GPU model, another "
        "process on it.",
    ),
    Advice(
        id="balance_sequences",
        causes=frozenset({SLOW_COMPUTE}),
        sentence="Give every rank the same number of tokens: pack sequences, or sort batches by length.",
        only_if="the lengths of sequences differ between ranks",
    ),
    Advice(
        id="balance_experts",
        causes=frozenset({MOE_SKEW}),
        sentence="Balance the experts: raise the router's auxiliary loss or bias, or cap the tokens of an expert.",
        only_if="the model may be trained so",
    ),
    Advice(
        id="place_experts",
        causes=frozenset({MOE_SKEW}),
        sentence="Place hot experts on several ranks, or pair hot with cold ones on a rank.",
        only_if="it is the same expert for many steps",
    ),
    Advice(
        id="fuse",
        causes=frozenset({NON_GEMM}),
        sentence="Fuse elementwise kernels and norms: torch.compile, or the fused kernels of Transformer "
        "Engine or Apex.",
    ),
    Advice(
        id="flash_attention",
        causes=frozenset({NON_GEMM}),
        sentence="Use FlashAttention in place of a softmax of its own.",
        holds=lambda job: job.attends_unfused,
    ),
    Advice(
        id="lower_precision",
        causes=frozenset({INEFFICIENT_GEMM}),
        sentence="Multiply in bf16 or fp8 on tensor cores.",
        only_if="the model trains as well in it",
    ),
    Advice(
        id="larger_gemms",
        causes=frozenset({INEFFICIENT_GEMM}),
        sentence="Make GEMMs larger: a larger micro-batch, longer sequences, or less tensor parallelism; pad "
        "dimensions "
        "to multiples of 128.",
        only_if="memory allows",
    ),
)
