"""Kernel names seen in public traces and sources, and decoys that only mention a collective."""

from __future__ import annotations

import pytest

from nsysan.attribution.kernel_class import KernelKind, classify, function_name
from nsysan.model.kernels import Collective, KernelClass
from nsysan.model.partition import Activity

COMMUNICATION = [
    # C23, T19: NCCL's spellings over the years, in any case
    ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", Collective.ALL_REDUCE, "nccl"),
    ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", Collective.ALL_REDUCE, "nccl"),
    ("nccldevkernel_allreduce_sum_f32_ring_ll", Collective.ALL_REDUCE, "nccl"),
    ("ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_bf16", Collective.ALL_REDUCE, "nccl"),
    ("ncclDevKernel_Generic(ncclDevComm*, channelMasks, ncclWork*)", Collective.UNKNOWN, "nccl"),
    ("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", Collective.SEND_RECV, "nccl"),
    ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", Collective.REDUCE_SCATTER, "nccl"),
    ("ncclDevKernel_Reduce_Sum_f32_RING_LL", Collective.REDUCE, "nccl"),
    ("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)", Collective.ALL_GATHER, "nccl"),
    ("ncclDevKernel_Broadcast_RING_LL", Collective.BROADCAST, "nccl"),
    # C31: vLLM's custom all-reduce
    ("void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>(vllm::RankData*)", Collective.ALL_REDUCE, "custom"),
    ("void sglang::cross_device_reduce_1stage<half, 4>(RankData*)", Collective.ALL_REDUCE, "custom"),
    ("void tensorrt_llm::kernels::oneShotAllReduceKernel<half, 8>(AllReduceParams)", Collective.ALL_REDUCE, "custom"),
    # C33: PyTorch's symmetric memory
    ("void multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)", Collective.ALL_REDUCE, "symmetric_memory"),
    ("void one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(...)", Collective.ALL_REDUCE, "symmetric_memory"),
    ("void two_shot_all_reduce_kernel_inplace<float, 16, 8>(...)", Collective.ALL_REDUCE, "symmetric_memory"),
    ("void multimem_one_shot_all_reduce_kernel<float, 16>(...)", Collective.ALL_REDUCE, "symmetric_memory"),
    # C34: DeepEP, demangled and mangled
    ("void deep_ep::internode::combine<(int)8, __nv_bfloat16>(int4*)", Collective.ALL_TO_ALL, "deep_ep"),
    ("void deep_ep::intranode::notify_dispatch<(int)8>(int const*)", Collective.BARRIER, "deep_ep"),
    ("void hybrid_ep::dispatch<(int)4>(int4*)", Collective.ALL_TO_ALL, "deep_ep"),
    ("_ZN7deep_ep9internode8dispatchILb1EEEvP4int4", Collective.UNKNOWN, "deep_ep"),
    # C35: Transformer Engine's userbuffers
    ("void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<(int)8>(int, int)", Collective.UNKNOWN, "userbuffers"),
    ("kuserbuffers_pushrecv(int, int)", Collective.UNKNOWN, "userbuffers"),
    ("void c10d::symmetric_memory::barrier_kernel(int)", Collective.BARRIER, "symmetric_memory"),
    ("void tensorrt_llm::kernels::allReduceKernel<half, 8>(AllReduceParams)", Collective.ALL_REDUCE, "custom"),
    ("mscclpp::allreduce_kernel(int)", Collective.ALL_REDUCE, "custom"),
    ("void nvshmemi_alltoall_threadgroup<int>(int*)", Collective.ALL_TO_ALL, "nvshmem"),
]

FUSED = [
    # C36
    "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(int)8>(AllReduceFusionParams)",
    "void fused_matmul_reduce_scatter<float>(float*)",
    "gemm_all_reduce_kernel(float*)",
]

COMPUTE = [
    ("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", KernelClass.GEMM),
    ("ampere_sgemm_128x64_tn", KernelClass.GEMM),
    ("void cublasLt::splitKreduce_kernel<(int)32, (int)16, int, float>(cublasLt::cublasSplitKParams<float>)", KernelClass.GEMM),
    ("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x4_tn_align8>(T1::Params)", KernelClass.GEMM),
    ("void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwd<(int)2>>>(T1::Params)", KernelClass.ATTENTION),
    ("void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128>>(flash::Flash_fwd_params)", KernelClass.ATTENTION),
    ("sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64", KernelClass.CONVOLUTION),
    ("void at::native::<unnamed>::vectorized_layer_norm_kernel<float, float, (bool)0>(int, T2)", KernelClass.NORMALIZATION),
    ("void at::native::<unnamed>::cunn_SoftMaxForward<(int)4, float>(float*)", KernelClass.NORMALIZATION),
    ("void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::NormTwoOps<float>>>(T3)", KernelClass.REDUCTION),
    ("void at::native::vectorized_elementwise_kernel<(int)8, at::native::GeluCUDAKernelImpl>(int)", KernelClass.ELEMENTWISE),
    ("void at::native::(anonymous namespace)::CatArrayBatchedCopy_vectorized<float>(char*)", KernelClass.COPY),
    ("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<(int)4>>(T1)", KernelClass.OPTIMIZER),
    ("void at::native::vectorized_gather_kernel<(int)16, long long>(char *, char *, T2 *)", KernelClass.EMBEDDING),
    # T6, C34: compute whose names mention collectives
    ("void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<(int)64>>(Params)", KernelClass.ATTENTION),
    ("void at::native::_scatter_gather_elementwise_kernel<(int)128, (int)8>(int)", KernelClass.ELEMENTWISE),
    ("triton_poi_fused_all_gather_into_tensor_wait_tensor_3", KernelClass.TRITON),
    ("void deep_ep::layout::get_dispatch_layout<(int)256, (int)32, (int)8>(long const*)", KernelClass.OTHER),
    ("broadcast_add_bias(float*)", KernelClass.OTHER),
    # C37
    ("my_kernel", KernelClass.OTHER),
    ("<unknown:999>", KernelClass.OTHER),
    ("", KernelClass.OTHER),
]  # fmt: skip


@pytest.mark.parametrize(("name", "collective", "backend"), COMMUNICATION)
def test_communication_is_recognised(name: str, collective: Collective, backend: str) -> None:
    assert classify(name) == KernelKind(KernelClass.COMMUNICATION, collective, backend)
    assert classify(name.upper()).activity is Activity.COMMUNICATION


@pytest.mark.parametrize("name", FUSED)
def test_fused_kernels_are_a_class_of_their_own(name: str) -> None:
    assert classify(name).kernel_class is KernelClass.FUSED_COMMUNICATION
    assert classify(name).activity is Activity.FUSED


@pytest.mark.parametrize(("name", "kernel_class"), COMPUTE)
def test_compute_stays_compute(name: str, kernel_class: KernelClass) -> None:
    assert classify(name) == KernelKind(kernel_class)
    assert classify(name).activity is Activity.COMPUTE


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("void ns::f<int, g<(int)2>>(float*)", "ns::f"),
        ("void at::native::(anonymous namespace)::f<int>(int)", "at::native::f"),
        ("f", "f"),
        ("_ZN2ns1fEv", "_ZN2ns1fEv"),
        ("void f<(bool)(1 > 0)>(int)", "f"),
        ("a" * 100_000 + "(int)", "a" * 100_000),
        ("<b>f</b> 8", "<b>f</b> 8"),
    ],
)
def test_function_name_is_without_types_and_arguments(name: str, function: str) -> None:
    assert function_name(name) == function
