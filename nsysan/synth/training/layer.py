"""The sizes of a transformer layer."""

from __future__ import annotations

import msgspec

from nsysan.synth.simulation.gemm import GemmShape

GRADIENT_BYTES = 2
"""Of a parameter's gradient, in bfloat16."""


class Layer(msgspec.Struct, frozen=True):
    """A layer with grouped queries and a feed-forward part of 3.5 times its width.

    Its matrices may be split over ``shard_count`` ranks, of which each has its part.
    """

    token_count: int
    hidden_size: int
    shard_count: int = 1

    @property
    def gemms(self) -> tuple[GemmShape, GemmShape, GemmShape, GemmShape]:
        """The forward GEMMs: query-key-value, attention output, and the two of the feed-forward part."""
        tokens, width, wide = self.token_count, self.hidden_size, self.hidden_size * 7 // 2
        parts = self.shard_count
        return (
            GemmShape(tokens, width * 3 // 2 // parts, width),
            GemmShape(tokens, width, width // parts),
            GemmShape(tokens, wide // parts, width),
            GemmShape(tokens, width, wide // parts),
        )

    @property
    def parameter_count(self) -> int:
        """Weights of the four GEMMs."""
        return sum(shape.n * shape.k for shape in self.gemms)

    @property
    def gradient_bytes(self) -> int:
        """The gradients of those weights."""
        return GRADIENT_BYTES * self.parameter_count

    @property
    def activation_bytes(self) -> int:
        """One activation of the layer's width, in bfloat16."""
        return 2 * self.token_count * self.hidden_size
