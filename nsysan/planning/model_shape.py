"""What a model is like, as far as its floating-point operations and its memory depend on it."""

from __future__ import annotations

from enum import Enum

import msgspec


class Recompute(str, Enum):
    """What of the forward the backward computes again."""

    NONE = "none"
    SELECTIVE = "selective"
    """Attention alone."""
    FULL = "full"


class LatentAttention(msgspec.Struct, frozen=True, kw_only=True):
    """Multi-head latent attention: the ranks of its projections and the parts of a head."""

    query_rank: int | None
    key_value_rank: int
    plain_head: int
    rotary_head: int
    value_head: int


class ModelShape(msgspec.Struct, frozen=True, kw_only=True):
    """A decoder. ``ffn`` is the width of a dense feed-forward part, ``is_gated`` says whether it has three matrices.

    Of a mixture each of the layers after the first ``dense_layers`` has ``experts``, of which a token uses ``top_k``
    and ``shared``, ``expert_ffn`` wide. ``parameters``, where given, replaces the count of all matrices.
    ``extra_head_count`` are heads that predict further tokens, each with a layer of its own. What is null is not known.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    ffn: int
    is_gated: bool
    vocabulary: int
    experts: int = 0
    top_k: int = 0
    shared: int = 0
    expert_ffn: int = 0
    dense_layers: int = 0
    extra_head_count: int = 0
    latent: LatentAttention | None = None
    window: int | None = None
    parameters: int | None = None
    sequence: int | None = None
    micro_batch: int | None = None
    global_batch: int | None = None
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    expert_parallel: int = 1
    context_parallel: int = 1
    data_parallel: int | None = None
    recompute: Recompute = Recompute.NONE
    dtype: str | None = None

    @property
    def tokens_per_step(self) -> int | None:
        """Tokens of the global batch; null where batch or sequence is not known."""
        if self.sequence is None or self.global_batch is None:
            return None
        return self.sequence * self.global_batch
