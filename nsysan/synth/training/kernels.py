"""How long the kernels of a transformer take on an H100-like GPU, and what they are called."""

from __future__ import annotations

import random

from nsysan.model.units import NS_PER_S
from nsysan.synth.simulation.gemm import GemmShape

GEMM_CEILING_FLOP_PER_S = 700e12
ATTENTION_FLOP_PER_S = 450e12
MEMORY_BYTES_PER_S = 2.8e12
HOST_LINK_BYTES_PER_S = 25e9
PAGEABLE_BYTES_PER_S = 6e9
"""The driver moves pageable memory through a small pinned buffer of its own."""
SHORTEST_KERNEL_NS = 2_000
NOISE_FRAC = 0.02
"""How far the duration of a kernel may lie off its mean."""

GEMM = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN"
ATTENTION_FORWARD = (
    "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128, (int)64>>(flash::Flash_fwd_params)"
)
ATTENTION_BACKWARD = (
    "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<(int)128, (int)64, (int)128>>"
    "(flash::Flash_bwd_params)"
)
LAYER_NORM = "void at::native::<unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, T2, const T1 *, T1 *)"
LAYER_NORM_BACKWARD = (
    "void at::native::<unnamed>::layer_norm_grad_input_kernel<c10::BFloat16, float>(const T1 *, T1 *, int)"
)
GELU = (
    "void at::native::vectorized_elementwise_kernel<(int)8, at::native::GeluCUDAKernelImpl"
    "(at::TensorIteratorBase &)>(int, T2, T3)"
)
GELU_BACKWARD = (
    "void at::native::vectorized_elementwise_kernel<(int)8, at::native::GeluBackwardCUDAKernelImpl"
    "(at::TensorIteratorBase &)>(int, T2, T3)"
)
ADD = "void at::native::vectorized_elementwise_kernel<(int)8, at::native::CUDAFunctor_add<c10::BFloat16>>(int, T2, T3)"
EMBEDDING = "void at::native::<unnamed>::indexSelectLargeIndex<c10::BFloat16, long, unsigned int>(T1, T2, int, int, T3)"
LOSS = "void at::native::<unnamed>::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(T1 *, T1 *, const T3 *)"
NORM = (
    "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::NormTwoOps<float>>>(T3)"
)
ADAM = (
    "void at::native::<unnamed>::multi_tensor_apply_kernel<at::native::<unnamed>::FusedOptimizerTensorListMetadata"
    "<(int)4>, at::native::<unnamed>::FusedAdamMathFunctor<float, (int)4>>(T1, T2, T3)"
)
TOP_K = (
    "void at::native::sbtopk::gatherTopK<c10::BFloat16, unsigned int, (int)2, (bool)0>"
    "(at::cuda::detail::TensorInfo<T1, T2>, T2, T2, bool, T2, T2)"
)


def gemm_ceiling_ns(shape: GemmShape) -> int:
    """The shortest time a GEMM needs: FLOP / ceiling, and never less than the shortest kernel."""
    return max(round(shape.flop / GEMM_CEILING_FLOP_PER_S * NS_PER_S), SHORTEST_KERNEL_NS)


class KernelTimes:
    """Durations with noise, the same for the same seed; each question draws the next number.

    Kernels take ``slowdown`` times as long as they should.
    """

    def __init__(self, seed: str, slowdown: float = 1.0) -> None:
        self._slowdown = slowdown
        self._random = random.Random(seed)  # noqa: S311 -- noise, no secret

    def gemm(self, shape: GemmShape, efficiency: float) -> int:
        """A GEMM takes ceiling x (1 + loss).

        The loss, 1 / efficiency - 1, is what has noise: at 1.0 a GEMM takes exactly its ceiling.
        """
        return round(gemm_ceiling_ns(shape) * (1 + (1 / efficiency - 1) * self._noise()) * self._slowdown)

    def attention(self, token_count: int, hidden_size: int, passes: float) -> int:
        """Causal attention over sequences of 2048 tokens; the backward makes 2.5 ``passes``."""
        flop = 2 * token_count * min(token_count, 2_048) * hidden_size * passes
        return self._noisy(self._slowdown * flop / ATTENTION_FLOP_PER_S)

    def memory(self, moved_bytes: float) -> int:
        """A kernel that is bound by the memory of the GPU."""
        return self._noisy(self._slowdown * moved_bytes / MEMORY_BYTES_PER_S)

    def host_copy(self, size_bytes: int) -> int:
        """A copy over the link to the host."""
        return self._noisy(size_bytes / HOST_LINK_BYTES_PER_S)

    def pageable_copy(self, size_bytes: int) -> int:
        """A copy from memory of the host that is not pinned."""
        return self._noisy(size_bytes / PAGEABLE_BYTES_PER_S)

    def of_host(self, duration_ns: int) -> int:
        """Work of the host thread."""
        return round(duration_ns * self._noise())

    def _noisy(self, seconds: float) -> int:
        return max(round(seconds * NS_PER_S * self._noise()), SHORTEST_KERNEL_NS)

    def _noise(self) -> float:
        return self._random.uniform(1 - NOISE_FRAC, 1 + NOISE_FRAC)
