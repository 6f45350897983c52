"""Memory of training by formula: weights and optimizer states (ZeRO), and activations (Korthikanti et al.)."""

from __future__ import annotations

from nsysan.planning.model_shape import ModelShape, Recompute

_STATES = {0: (16, 0), 1: (4, 12), 2: (2, 14), 3: (0, 16)}
"""Bytes a parameter by ZeRO stage: on every rank, and shared by all of them; Adam in mixed precision."""


def state_bytes(parameters: float, zero_stage: int, data_parallel: int) -> float:
    """Weights, gradients and optimizer states on one GPU."""
    own, shared = _STATES[zero_stage]
    return parameters * (own + shared / data_parallel)


def activation_bytes_per_layer(
    shape: ModelShape, *, is_sequence_parallel: bool = False, keeps_scores: bool = True
) -> float:
    """Activations of one layer and micro-batch of 16-bit numbers on one GPU.

    s b h (10 + 24 / t + 5 a s / (h t)); with sequence parallelism 34 / t in place of 10 + 24 / t; 2 s b h under full
    recomputation.
    ``keeps_scores``: not with FlashAttention. Raises ValueError where sequence or micro-batch is not known.
    """
    if shape.sequence is None or shape.micro_batch is None:
        raise ValueError("activations depend on sequence and micro-batch")
    tokens, t = shape.sequence * shape.micro_batch * shape.hidden, shape.tensor_parallel
    if shape.recompute is Recompute.FULL:
        return 2.0 * tokens
    keeps = keeps_scores and shape.recompute is Recompute.NONE
    scores = 5 * shape.heads * shape.sequence / (shape.hidden * t) if keeps else 0.0
    return tokens * ((34 / t if is_sequence_parallel else 10 + 24 / t) + scores)


def bubble_frac(stages: int, micro_batches: int, chunks: int = 1) -> float:
    """The share of a step that a pipeline's stages wait: b / (1 + b), b = (p - 1) / (v m) of the ideal step."""
    of_ideal = (stages - 1) / (chunks * micro_batches)
    return of_ideal / (1 + of_ideal)
