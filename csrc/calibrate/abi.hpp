/// The functions of NVIDIA's libraries that a calibration calls, as they are in CUDA 12 and 13.
///
/// Nothing of NVIDIA is needed to build this: the libraries are opened when a calibration starts.
/// Prototypes are written by hand; a test compares each with the real headers of both releases.
/// Handles are `void*`, enumerations `int`.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nsysan::calibrate {

using DevicePointer = unsigned long long;

struct Uuid {
    std::array<unsigned char, 16> bytes;
};

/// What `ncclUniqueId` is since NCCL 2.18.
struct UniqueId {
    std::array<char, 128> bytes;
};

/// What `cublasLtMatmulAlgo_t` is.
struct GemmAlgorithm {
    std::array<std::uint64_t, 8> data;
};

/// What `cublasLtMatmulHeuristicResult_t` is.
struct GemmProposal {
    GemmAlgorithm algorithm;
    std::size_t workspace_bytes;
    int status;
    float wave_count;
    std::array<int, 4> reserved;
};

}  // namespace nsysan::calibrate

// X(name of the symbol, type of the function)

#define NSYSAN_DRIVER_FUNCTIONS(X)                                                           \
    X(cuInit, int(unsigned))                                                                 \
    X(cuDriverGetVersion, int(int*))                                                         \
    X(cuGetErrorString, int(int, const char**))                                              \
    X(cuDeviceGetCount, int(int*))                                                           \
    X(cuDeviceGet, int(int*, int))                                                           \
    X(cuDeviceGetName, int(char*, int, int))                                                 \
    X(cuDeviceGetUuid_v2, int(Uuid*, int))                                                   \
    X(cuDeviceTotalMem_v2, int(std::size_t*, int))                                           \
    X(cuDeviceGetAttribute, int(int*, int, int))                                             \
    X(cuDeviceGetPCIBusId, int(char*, int, int))                                             \
    X(cuDeviceCanAccessPeer, int(int*, int, int))                                            \
    X(cuDevicePrimaryCtxRetain, int(void**, int))                                            \
    X(cuDevicePrimaryCtxRelease_v2, int(int))                                                \
    X(cuCtxSetCurrent, int(void*))                                                           \
    X(cuCtxEnablePeerAccess, int(void*, unsigned))                                           \
    X(cuMemGetInfo_v2, int(std::size_t*, std::size_t*))                                      \
    X(cuMemAlloc_v2, int(DevicePointer*, std::size_t))                                       \
    X(cuMemFree_v2, int(DevicePointer))                                                      \
    X(cuMemHostAlloc, int(void**, std::size_t, unsigned))                                    \
    X(cuMemFreeHost, int(void*))                                                             \
    X(cuMemHostGetDevicePointer_v2, int(DevicePointer*, void*, unsigned))                    \
    X(cuMemcpyHtoD_v2, int(DevicePointer, const void*, std::size_t))                         \
    X(cuMemcpyDtoH_v2, int(void*, DevicePointer, std::size_t))                               \
    X(cuMemcpyDtoD_v2, int(DevicePointer, DevicePointer, std::size_t))                       \
    X(cuMemcpyAsync, int(DevicePointer, DevicePointer, std::size_t, void*))                  \
    X(cuMemsetD8_v2, int(DevicePointer, unsigned char, std::size_t))                         \
    X(cuStreamCreate, int(void**, unsigned))                                                 \
    X(cuStreamDestroy_v2, int(void*))                                                        \
    X(cuStreamQuery, int(void*))                                                             \
    X(cuStreamWaitValue32_v2, int(void*, DevicePointer, std::uint32_t, unsigned))            \
    X(cuStreamBeginCapture_v2, int(void*, int))                                              \
    X(cuStreamEndCapture, int(void*, void**))                                                \
    X(cuGraphInstantiateWithFlags, int(void**, void*, unsigned long long))                   \
    X(cuGraphLaunch, int(void*, void*))                                                      \
    X(cuGraphExecDestroy, int(void*))                                                        \
    X(cuGraphDestroy, int(void*))                                                            \
    X(cuEventCreate, int(void**, unsigned))                                                  \
    X(cuEventDestroy_v2, int(void*))                                                         \
    X(cuEventRecord, int(void*, void*))                                                      \
    X(cuEventElapsedTime, int(float*, void*, void*))                                         \
    X(cuModuleLoadData, int(void**, const void*))                                            \
    X(cuModuleUnload, int(void*))                                                            \
    X(cuModuleGetFunction, int(void**, void*, const char*))                                  \
    X(cuLaunchKernel, int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                          unsigned, void*, void**, void**))

#define NSYSAN_CUBLASLT_FUNCTIONS(X)                                                            \
    X(cublasLtGetVersion, std::size_t())                                                        \
    X(cublasLtGetStatusString, const char*(int))                                                \
    X(cublasLtCreate, int(void**))                                                              \
    X(cublasLtDestroy, int(void*))                                                              \
    X(cublasLtMatmulDescCreate, int(void**, int, int))                                          \
    X(cublasLtMatmulDescDestroy, int(void*))                                                    \
    X(cublasLtMatmulDescSetAttribute, int(void*, int, const void*, std::size_t))                \
    X(cublasLtMatrixLayoutCreate, int(void**, int, std::uint64_t, std::uint64_t, std::int64_t)) \
    X(cublasLtMatrixLayoutDestroy, int(void*))                                                  \
    X(cublasLtMatmulPreferenceCreate, int(void**))                                              \
    X(cublasLtMatmulPreferenceDestroy, int(void*))                                              \
    X(cublasLtMatmulPreferenceSetAttribute, int(void*, int, const void*, std::size_t))          \
    X(cublasLtMatmulAlgoGetHeuristic,                                                           \
      int(void*, void*, void*, void*, void*, void*, void*, int, GemmProposal*, int*))           \
    X(cublasLtMatmul,                                                                           \
      int(void*, void*, const void*, const void*, void*, const void*, void*, const void*,       \
          const void*, void*, void*, void*, const GemmAlgorithm*, void*, std::size_t, void*))

#define NSYSAN_NCCL_FUNCTIONS(X)                                                       \
    X(ncclGetVersion, int(int*))                                                       \
    X(ncclGetErrorString, const char*(int))                                            \
    X(ncclGetUniqueId, int(UniqueId*))                                                 \
    X(ncclCommInitAll, int(void**, int, const int*))                                   \
    X(ncclCommInitRank, int(void**, int, UniqueId, int))                               \
    X(ncclCommDestroy, int(void*))                                                     \
    X(ncclCommAbort, int(void*))                                                       \
    X(ncclCommGetAsyncError, int(void*, int*))                                         \
    X(ncclGroupStart, int())                                                           \
    X(ncclGroupEnd, int())                                                             \
    X(ncclAllReduce, int(const void*, void*, std::size_t, int, int, void*, void*))     \
    X(ncclAllGather, int(const void*, void*, std::size_t, int, void*, void*))          \
    X(ncclReduceScatter, int(const void*, void*, std::size_t, int, int, void*, void*)) \
    X(ncclBroadcast, int(const void*, void*, std::size_t, int, int, void*, void*))     \
    X(ncclReduce, int(const void*, void*, std::size_t, int, int, int, void*, void*))   \
    X(ncclSend, int(const void*, std::size_t, int, int, void*, void*))                 \
    X(ncclRecv, int(void*, std::size_t, int, int, void*, void*))

#define NSYSAN_NVRTC_FUNCTIONS(X)                                                         \
    X(nvrtcVersion, int(int*, int*))                                                      \
    X(nvrtcGetErrorString, const char*(int))                                              \
    X(nvrtcCreateProgram,                                                                 \
      int(void**, const char*, const char*, int, const char* const*, const char* const*)) \
    X(nvrtcDestroyProgram, int(void**))                                                   \
    X(nvrtcCompileProgram, int(void*, int, const char* const*))                           \
    X(nvrtcGetCUBINSize, int(void*, std::size_t*))                                        \
    X(nvrtcGetCUBIN, int(void*, char*))                                                   \
    X(nvrtcGetProgramLogSize, int(void*, std::size_t*))                                   \
    X(nvrtcGetProgramLog, int(void*, char*))

#define NSYSAN_NVML_FUNCTIONS(X)                                       \
    X(nvmlInit_v2, int())                                              \
    X(nvmlShutdown, int())                                             \
    X(nvmlErrorString, const char*(int))                               \
    X(nvmlSystemGetDriverVersion, int(char*, unsigned))                \
    X(nvmlDeviceGetHandleByPciBusId_v2, int(const char*, void**))      \
    X(nvmlDeviceGetClockInfo, int(void*, int, unsigned*))              \
    X(nvmlDeviceGetMaxClockInfo, int(void*, int, unsigned*))           \
    X(nvmlDeviceGetPowerUsage, int(void*, unsigned*))                  \
    X(nvmlDeviceGetPowerManagementLimit, int(void*, unsigned*))        \
    X(nvmlDeviceGetPowerManagementDefaultLimit, int(void*, unsigned*)) \
    X(nvmlDeviceGetTemperature, int(void*, int, unsigned*))            \
    X(nvmlDeviceGetEccMode, int(void*, int*, int*))                    \
    X(nvmlDeviceGetMigMode, int(void*, unsigned*, unsigned*))          \
    X(nvmlDeviceGetMaxPcieLinkGeneration, int(void*, unsigned*))       \
    X(nvmlDeviceGetMaxPcieLinkWidth, int(void*, unsigned*))            \
    X(nvmlDeviceGetNvLinkState, int(void*, unsigned, int*))            \
    X(nvmlDeviceGetTopologyCommonAncestor, int(void*, void*, int*))    \
    X(nvmlDeviceGetP2PStatus, int(void*, void*, int, int*))            \
    X(nvmlDeviceGetComputeRunningProcesses_v3, int(void*, unsigned*, void*))

/// Why clocks are held back: the newer name of the function, then the one that older drivers have
/// alone.
#define NSYSAN_NVML_OPTIONAL_FUNCTIONS(X)                                      \
    X(nvmlDeviceGetCurrentClocksEventReasons, int(void*, unsigned long long*)) \
    X(nvmlDeviceGetCurrentClocksThrottleReasons, int(void*, unsigned long long*))
