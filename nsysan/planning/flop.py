"""Floating-point operations of training, per token, by the formulas of PaLM's and Megatron-LM's papers.

Forward, per layer and token: projections 2 h (a d) + 4 h (k d) + 2 (a d) h; feed-forward 4 h f, or 6 h f where gated;
scores 4 s a d over the whole sequence, half of it where causal; the head 2 h V. The backward takes twice as much. An
embedding is looked up and costs nothing; padding counts as tokens.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from nsysan.planning.model_shape import LatentAttention, ModelShape, Recompute

_TRAINING = 3
"""Forward once, backward twice as much."""
_GATED, _PLAIN = 6, 4


class Attention(str, Enum):
    """Which scores count: those that the causal mask leaves, or all of the square."""

    CAUSAL = "causal"
    FULL = "full"


class FlopPerToken(msgspec.Struct, frozen=True):
    """Operations of a trained token by where they are; ``recomputed`` is what the hardware does besides."""

    projections: float
    feed_forward: float
    scores: float
    head: float
    recomputed: float

    @property
    def model(self) -> float:
        """What training needs, whatever is computed again."""
        return self.projections + self.feed_forward + self.scores + self.head

    @property
    def hardware(self) -> float:
        """What the hardware does."""
        return self.model + self.recomputed


def flop_per_token(shape: ModelShape, attention: Attention) -> FlopPerToken:
    """The operations of one token. Raises ValueError where the sequence is not known."""
    if shape.sequence is None:
        raise ValueError("the operations of attention depend on the length of sequences")
    layers = shape.layers + shape.extra_head_count
    scores = _TRAINING * layers * _scores(shape, shape.sequence, attention)
    head = _TRAINING * (1 + shape.extra_head_count) * 2.0 * shape.hidden * shape.vocabulary
    if shape.parameters is not None:
        # the rule of 6 N counts every parameter, the head and the embedding too
        projections, feed_forward, head = 6.0 * shape.parameters, 0.0, 0.0
    else:
        projections = float(_TRAINING * layers * _projections(shape))
        feed_forward = float(_TRAINING * _feed_forward(shape))
    recomputed = _recomputed(shape.recompute, projections + feed_forward, scores)
    return FlopPerToken(projections, feed_forward, scores, head, recomputed)


def _projections(shape: ModelShape) -> int:
    """Forward operations of one layer's projections."""
    if shape.latent is not None:
        return _latent_projections(shape, shape.latent)
    queries, keys = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    return 4 * shape.hidden * queries + 4 * shape.hidden * keys


def _latent_projections(shape: ModelShape, latent: LatentAttention) -> int:
    """Down to the ranks and up to the heads again, and out."""
    head = latent.plain_head + latent.rotary_head
    queries = (
        shape.hidden * shape.heads * head
        if latent.query_rank is None
        else latent.query_rank * (shape.hidden + shape.heads * head)
    )
    down = shape.hidden * (latent.key_value_rank + latent.rotary_head)
    up = latent.key_value_rank * shape.heads * (latent.plain_head + latent.value_head)
    return 2 * (queries + down + up + shape.heads * latent.value_head * shape.hidden)


def _feed_forward(shape: ModelShape) -> int:
    """Forward operations of all feed-forward parts: of a mixture those of the experts that a token uses."""
    factor = _GATED if shape.is_gated else _PLAIN
    dense = factor * shape.hidden * shape.ffn
    if not shape.experts:
        return (shape.layers + shape.extra_head_count) * dense
    used = factor * shape.hidden * shape.expert_ffn * (shape.top_k + shape.shared)
    mixture = used + 2 * shape.hidden * shape.experts
    mixed = shape.layers - shape.dense_layers + shape.extra_head_count
    return shape.dense_layers * dense + mixed * mixture


def _scores(shape: ModelShape, sequence: int, attention: Attention) -> float:
    """Forward operations of one layer's scores and of what they weigh, a token."""
    window = sequence if shape.window is None else min(shape.window, sequence)
    # of a causal window the first tokens see less than it
    seen = window * (1 - window / (2 * sequence)) if attention is Attention.CAUSAL else window
    if shape.latent is not None:
        width = shape.heads * (shape.latent.plain_head + shape.latent.rotary_head + shape.latent.value_head)
        return 2.0 * seen * width
    return 4.0 * seen * shape.heads * shape.head_size


def _recomputed(recompute: Recompute, matrices: float, scores: float) -> float:
    """Full: the forward of the layers again, a third. Selective: as Korthikanti et al. count it, the scores twice."""
    if recompute is Recompute.FULL:
        return (matrices + scores) / _TRAINING
    return scores if recompute is Recompute.SELECTIVE else 0.0
