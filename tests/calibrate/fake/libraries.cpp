/// cuBLASLt and NVML as a calibration sees them; products are really done.

#include <cstring>

#include "../../../csrc/calibrate/abi.hpp"
#include "numbers.hpp"
#include "state.hpp"

using namespace nsysan::calibrate;
using fake::at;
using fake::drop;
using fake::fails;
using fake::make;

namespace {

constexpr int kLtError = 14;
constexpr int kNvmlError = 999;

int nvml(const char* call, unsigned* target, unsigned value) {
    *target = value;
    return fails(call) ? kNvmlError : 0;
}

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion() { return 130101; }
const char* cublasLtGetStatusString(int) { return "made to fail"; }
int cublasLtCreate(void** handle) {
    if (fails("cublasLtCreate")) return kLtError;
    *handle = make("handle");
    return 0;
}
int cublasLtDestroy(void* handle) {
    fails("cublasLtDestroy");
    drop(handle, "handle");
    return 0;
}
int cublasLtMatmulDescCreate(void** description, int compute, int scale) {
    if (fails("cublasLtMatmulDescCreate")) return kLtError;
    *description = make("description");
    at(*description).numbers.assign(40, 0);
    at(*description).numbers[38] = compute;
    at(*description).numbers[39] = scale;
    return 0;
}
int cublasLtMatmulDescDestroy(void* description) {
    fails("cublasLtMatmulDescDestroy");
    drop(description, "description");
    return 0;
}
int cublasLtMatmulDescSetAttribute(void* description, int attribute, const void* value,
                                   std::size_t size) {
    if (fails("cublasLtMatmulDescSetAttribute " + std::to_string(attribute))) return kLtError;
    std::memcpy(&at(description).numbers[static_cast<std::size_t>(attribute)], value, size);
    return 0;
}
int cublasLtMatrixLayoutCreate(void** layout, int type, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t leading) {
    if (fails("cublasLtMatrixLayoutCreate")) return kLtError;
    *layout = make("layout");
    at(*layout).numbers = {type, static_cast<long long>(rows), static_cast<long long>(columns),
                           leading};
    return 0;
}
int cublasLtMatrixLayoutDestroy(void* layout) {
    fails("cublasLtMatrixLayoutDestroy");
    drop(layout, "layout");
    return 0;
}
int cublasLtMatmulPreferenceCreate(void** preference) {
    if (fails("cublasLtMatmulPreferenceCreate")) return kLtError;
    *preference = make("preference");
    return 0;
}
int cublasLtMatmulPreferenceDestroy(void* preference) {
    fails("cublasLtMatmulPreferenceDestroy");
    drop(preference, "preference");
    return 0;
}
int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, std::size_t) {
    return fails("cublasLtMatmulPreferenceSetAttribute") ? kLtError : 0;
}
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void* a, void*, void*, void*, void*, int most,
                                   GemmProposal* proposals, int* found) {
    if (fails("cublasLtMatmulAlgoGetHeuristic")) return kLtError;
    // as on a GPU before Blackwell: no products of fp4
    if (at(a).numbers[0] == 33 || fake::state().algorithm_count == 0) return 15;
    *found = std::min(most, fake::state().algorithm_count);
    for (int number = 0; number < *found; ++number) {
        proposals[number] = {};
        proposals[number].algorithm.data[0] = static_cast<std::uint64_t>(number);
    }
    return 0;
}
int cublasLtMatmul(void*, void* description, const void*, const void* a, void* a_layout,
                   const void* b, void* b_layout, const void*, const void*, void* d_layout_c,
                   void* d, void* d_layout, const GemmAlgorithm* algorithm, void*, std::size_t,
                   void* stream) {
    (void)d_layout_c;
    if (fails("cublasLtMatmul " + std::to_string(algorithm->data[0]))) return kLtError;
    const double share = algorithm->data[0] == 0 ? 1 : fake::state().others_take;
    at(stream).clock_ns += fake::next_time_ns() * share;
    const auto& settings = at(description).numbers;
    const auto &la = at(a_layout).numbers, &lb = at(b_layout).numbers, &ld = at(d_layout).numbers;
    const bool ta = settings[3] != 0, tb = settings[4] != 0;
    const auto m = static_cast<std::size_t>(ld[1]), n = static_cast<std::size_t>(ld[2]);
    const auto k = static_cast<std::size_t>(ta ? la[1] : la[2]);
    const auto lda = static_cast<std::size_t>(la[3]), ldb = static_cast<std::size_t>(lb[3]);
    const auto* left = static_cast<const char*>(a);
    const auto* right = static_cast<const char*>(b);
    for (std::size_t column = 0; column < n; ++column) {
        for (std::size_t row = 0; row < m; ++row) {
            double sum = fake::state().wrong_by;
            for (std::size_t i = 0; i < k; ++i) {
                sum +=
                    fake::load(left, ta ? row * lda + i : i * lda + row, static_cast<int>(la[0])) *
                    fake::load(right, tb ? i * ldb + column : column * ldb + i,
                               static_cast<int>(lb[0]));
            }
            fake::store(static_cast<char*>(d), column * static_cast<std::size_t>(ld[3]) + row,
                        static_cast<int>(ld[0]), sum);
        }
    }
    return 0;
}

int nvmlInit_v2() {
    if (fails("nvmlInit")) return kNvmlError;
    make("nvml");
    return 0;
}
int nvmlShutdown() {
    fails("nvmlShutdown");
    for (const auto& [handle, thing] : fake::state().alive) {
        if (thing->kind == "nvml") {
            drop(handle, "nvml");
            return 0;
        }
    }
    return kNvmlError;
}
const char* nvmlErrorString(int) { return "made to fail"; }
int nvmlSystemGetDriverVersion(char* version, unsigned size) {
    std::strncpy(version, "580.65.06", size);
    return fails("nvmlSystemGetDriverVersion") ? kNvmlError : 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
    *device = reinterpret_cast<void*>(static_cast<std::size_t>(id[6] - '0'));
    return fails("nvmlDeviceGetHandleByPciBusId") ? kNvmlError : 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
    return nvml("clock", mhz, type == 1 ? 1755 : 2619);
}
int nvmlDeviceGetMaxClockInfo(void*, int type, unsigned* mhz) {
    return nvml("most", mhz, type == 1 ? 1980 : 2619);
}
int nvmlDeviceGetPowerUsage(void*, unsigned* mw) { return nvml("power", mw, 650000); }
int nvmlDeviceGetPowerManagementLimit(void*, unsigned* mw) { return nvml("limit", mw, 700000); }
int nvmlDeviceGetPowerManagementDefaultLimit(void*, unsigned* mw) {
    return nvml("default", mw, 700000);
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
    return nvml("temperature", celsius, 55);
}
int nvmlDeviceGetEccMode(void*, int* mode, int* pending_mode) {
    *mode = *pending_mode = 1;
    return fails("ecc") ? kNvmlError : 0;
}
int nvmlDeviceGetMigMode(void*, unsigned* mode, unsigned* pending_mode) {
    *pending_mode = 0;
    return nvml("mig", mode, fake::state().is_mig);
}
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* generation) {
    return nvml("generation", generation, 5);
}
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* width) { return nvml("width", width, 16); }
int nvmlDeviceGetNvLinkState(void*, unsigned link, int* is_active) {
    *is_active = link < 18;
    return fails("nvlink") ? kNvmlError : 0;
}
int nvmlDeviceGetTopologyCommonAncestor(void*, void*, int* level) {
    *level = 40;
    return fails("ancestor") ? kNvmlError : 0;
}
int nvmlDeviceGetP2PStatus(void*, void*, int, int* status) {
    *status = 0;
    return fails("p2p") ? kNvmlError : 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
    *count = static_cast<unsigned>(fake::state().processes);
    return fails("processes") ? kNvmlError : 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
    *reasons = fake::state().reasons;
    return fails("reasons") ? kNvmlError : 0;
}
}
