"""The operators of a transformer layer, forward and backward."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from nsysan.synth.simulation.program import Action, kernel
from nsysan.synth.training import kernels
from nsysan.synth.training.layer import Layer
from nsysan.synth.training.operators import KERNEL_CALL, Operators


class LayerProgram(msgspec.Struct, frozen=True):
    """The parts of a layer, between which a parallel job communicates."""

    operators: Operators
    layer: Layer

    def forward(self) -> Iterator[Action]:
        """All of it, where nobody else is needed."""
        yield from self.attention()
        yield from self.residual()
        yield from self.feed_forward()
        yield from self.residual()

    def backward(self) -> Iterator[Action]:
        """The gradients of all of it."""
        yield from self.feed_forward_backward()
        yield from self.norm_backward()
        yield from self.attention_backward()
        yield from self.norm_backward()

    def attention(self) -> Iterator[Action]:
        """The norm, and the attention up to its output."""
        query, output, _, _ = self.layer.gemms
        yield from self.norm()
        yield from self.operators.gemm(query)
        yield from self._attention("aten::_flash_attention_forward", kernels.ATTENTION_FORWARD, 1)
        yield from self.operators.gemm(output)

    def feed_forward(self) -> Iterator[Action]:
        """The norm, and both GEMMs of the feed-forward part."""
        _, _, up, down = self.layer.gemms
        yield from self.norm()
        yield from self.operators.gemm(up)
        yield from self._gelu("aten::gelu", kernels.GELU, 7)
        yield from self.operators.gemm(down)

    def norm(self) -> Iterator[Action]:
        """The norm before either."""
        size_bytes = 2 * self.layer.activation_bytes
        yield from self.operators.memory_bound("aten::native_layer_norm", kernels.LAYER_NORM, size_bytes)

    def residual(self) -> Iterator[Action]:
        """The sum after either."""
        yield from self.operators.memory_bound("aten::add", kernels.ADD, 3 * self.layer.activation_bytes)

    def feed_forward_backward(self) -> Iterator[Action]:
        """The gradients of the feed-forward part down to its input."""
        _, _, up, down = self.layer.gemms
        yield from self.operators.gemm_backward(down)
        yield from self._gelu("aten::gelu_backward", kernels.GELU_BACKWARD, 10.5)
        yield from self.operators.gemm_backward(up)

    def attention_backward(self) -> Iterator[Action]:
        """The gradients of the attention down to its input."""
        query, output, _, _ = self.layer.gemms
        yield from self.operators.gemm_backward(output)
        yield from self._attention("aten::_flash_attention_backward", kernels.ATTENTION_BACKWARD, 2.5)
        yield from self.operators.gemm_backward(query)

    def norm_backward(self) -> Iterator[Action]:
        """The gradients of a norm."""
        name, size_bytes = kernels.LAYER_NORM_BACKWARD, 3 * self.layer.activation_bytes
        yield from self.operators.memory_bound("aten::native_layer_norm_backward", name, size_bytes)

    def _gelu(self, operator: str, name: str, activation_count: float) -> Iterator[Action]:
        moved_bytes = activation_count * self.layer.activation_bytes / self.layer.shard_count
        yield from self.operators.memory_bound(operator, name, moved_bytes)

    def _attention(self, operator: str, name: str, passes: float) -> Iterator[Action]:
        width = self.layer.hidden_size // self.layer.shard_count
        duration_ns = self.operators.times.attention(self.layer.token_count, width, passes)
        yield from self.operators.operator(operator, kernel(name, duration_ns), KERNEL_CALL)
