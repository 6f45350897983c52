/// Compiles where every prototype in `abi.hpp` fits the one in NVIDIA's headers that are at hand.

#include <type_traits>
#include <utility>

#ifdef NSYSAN_CHECK_DRIVER
#include <cuda.h>
#endif
#ifdef NSYSAN_CHECK_CUBLASLT
#include <cublasLt.h>
#endif
#ifdef NSYSAN_CHECK_NCCL
#include <nccl.h>
#endif
#ifdef NSYSAN_CHECK_NVRTC
#include <nvrtc.h>
#endif
#ifdef NSYSAN_CHECK_NVML
#include <nvml.h>
#endif

#include "../../csrc/calibrate/abi.hpp"

namespace ours = nsysan::calibrate;

/// Pointers are passed alike, whole numbers and enumerations by their size, structures by theirs.
template <typename One, typename Other>
constexpr bool alike() {
    if constexpr (std::is_pointer_v<One> || std::is_pointer_v<Other>) {
        return std::is_pointer_v<One> && std::is_pointer_v<Other>;
    } else if constexpr (std::is_void_v<One> || std::is_void_v<Other>) {
        return std::is_same_v<One, Other>;
    } else {
        constexpr auto whole = [](auto* type) {
            using Type = std::remove_pointer_t<decltype(type)>;
            return std::is_integral_v<Type> || std::is_enum_v<Type>;
        };
        return sizeof(One) == sizeof(Other) &&
               whole(static_cast<One*>(nullptr)) == whole(static_cast<Other*>(nullptr)) &&
               std::is_floating_point_v<One> == std::is_floating_point_v<Other>;
    }
}

template <typename One, typename Other>
struct Same;
template <typename R1, typename... A1, typename R2, typename... A2>
struct Same<R1(A1...), R2(A2...)> {
    static constexpr bool arguments() {
        if constexpr (sizeof...(A1) == sizeof...(A2)) {
            return (alike<A1, A2>() && ...);
        }
        return false;
    }
    static constexpr bool value = alike<R1, R2>() && arguments();
};

using nsysan::calibrate::DevicePointer;
using nsysan::calibrate::GemmAlgorithm;
using nsysan::calibrate::GemmProposal;
using nsysan::calibrate::UniqueId;
using nsysan::calibrate::Uuid;

#define CHECK(name, ...) static_assert(Same<__VA_ARGS__, decltype(::name)>::value, #name);

#ifdef NSYSAN_CHECK_DRIVER
NSYSAN_DRIVER_FUNCTIONS(CHECK)
static_assert(sizeof(CUuuid) == sizeof(Uuid));
static_assert(sizeof(CUdeviceptr) == sizeof(DevicePointer));
static_assert(CU_DEVICE_ATTRIBUTE_CLOCK_RATE == 13 && CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == 16);
static_assert(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE == 36 && CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH == 37);
static_assert(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE == 38 && CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == 75);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == 76);
static_assert(CUDA_ERROR_NOT_READY == 600 && CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED == 704);
static_assert(CUDA_ERROR_NOT_SUPPORTED == 801 && CU_STREAM_NON_BLOCKING == 1);
static_assert((CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) == 3 && CU_STREAM_WAIT_VALUE_EQ == 1);
static_assert(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL == 1);
#endif
#ifdef NSYSAN_CHECK_CUBLASLT
NSYSAN_CUBLASLT_FUNCTIONS(CHECK)
static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(GemmAlgorithm));
static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == sizeof(GemmProposal));
static_assert(offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) == offsetof(GemmProposal, workspace_bytes));
static_assert(offsetof(cublasLtMatmulHeuristicResult_t, state) == offsetof(GemmProposal, status));
static_assert(CUBLASLT_MATMUL_DESC_TRANSA == 3 && CUBLASLT_MATMUL_DESC_TRANSB == 4);
static_assert(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER == 17 && CUBLASLT_MATMUL_DESC_B_SCALE_POINTER == 18);
static_assert(CUBLASLT_MATMUL_DESC_FAST_ACCUM == 25 && CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == 1);
static_assert(CUBLASLT_MATMUL_DESC_A_SCALE_MODE == 31 && CUBLASLT_MATMUL_DESC_B_SCALE_MODE == 32);
static_assert(CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 == 1 && CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0 == 2);
static_assert(CUBLAS_STATUS_NOT_SUPPORTED == 15 && CUBLAS_STATUS_INVALID_VALUE == 7 && CUBLAS_OP_T == 1);
static_assert(CUBLAS_COMPUTE_32F == 68 && CUBLAS_COMPUTE_64F == 70 && CUBLAS_COMPUTE_32I == 72);
static_assert(CUBLAS_COMPUTE_32F_FAST_TF32 == 77);
static_assert(CUDA_R_32F == 0 && CUDA_R_64F == 1 && CUDA_R_16F == 2 && CUDA_R_8I == 3 && CUDA_R_32I == 10);
static_assert(CUDA_R_16BF == 14 && CUDA_R_8F_E4M3 == 28 && CUDA_R_4F_E2M1 == 33);
#endif
#ifdef NSYSAN_CHECK_NCCL
NSYSAN_NCCL_FUNCTIONS(CHECK)
static_assert(sizeof(ncclUniqueId) == sizeof(UniqueId));
static_assert(ncclInt8 == 0 && ncclFloat16 == 6 && ncclFloat32 == 7 && ncclFloat64 == 8 && ncclBfloat16 == 9);
static_assert(ncclSum == 0);
#endif
#ifdef NSYSAN_CHECK_NVRTC
NSYSAN_NVRTC_FUNCTIONS(CHECK)
#endif
#ifdef NSYSAN_CHECK_NVML
NSYSAN_NVML_FUNCTIONS(CHECK)
#ifdef NSYSAN_CHECK_NVML_REASONS
NSYSAN_NVML_OPTIONAL_FUNCTIONS(CHECK)
#endif
static_assert(NVML_CLOCK_SM == 1 && NVML_CLOCK_MEM == 2 && NVML_TEMPERATURE_GPU == 0);
static_assert(NVML_P2P_CAPS_INDEX_NVLINK == 2 && NVML_P2P_STATUS_OK == 0 && NVML_ERROR_INSUFFICIENT_SIZE == 7);
static_assert(nvmlClocksEventReasonSwPowerCap == 4 && nvmlClocksEventReasonSwThermalSlowdown == 0x20);
#endif
