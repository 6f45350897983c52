/// cuBLASLt, NCCL and NVML as a calibration sees them; products and sums are really done.

#include <cstring>
#include <functional>
#include <set>

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
constexpr int kNcclError = 1;
constexpr int kNvmlError = 999;

/// A call of NCCL that waits for the end of its group.
struct Pending {
    std::string call;
    const char* send;
    char* receive;
    std::size_t count;
    int type;
    int peer;
    void* communicator;
    void* stream;
};

std::vector<Pending>& pending() {
    static std::vector<Pending> calls;
    return calls;
}

int nccl_bytes(int type) { return type == 7 ? 4 : type == 9 || type == 6 ? 2 : type == 8 ? 8 : 1; }

int cuda_type(int type) {
    return type == 7 ? 0 : type == 9 ? 14 : type == 6 ? 2 : type == 8 ? 1 : 3;
}

int rank_of(const Pending& call) { return static_cast<int>(at(call.communicator).numbers[0]); }

int queue(Pending call) {
    if (fails(call.call)) {
        return kNcclError;
    }
    pending().push_back(std::move(call));
    return 0;
}

double sum_at(const std::vector<Pending>& calls, std::size_t place) {
    double sum = 0;
    for (const Pending& call : calls) {
        sum += fake::load(call.send, place, cuda_type(call.type));
    }
    return sum;
}

/// Does what the calls of all ranks of one collective ask for.
void exchange(const std::vector<Pending>& calls) {
    const std::size_t part = calls[0].count * static_cast<std::size_t>(nccl_bytes(calls[0].type));
    const std::string& name = calls[0].call;
    for (const Pending& call : calls) {
        const int type = cuda_type(call.type);
        const std::size_t rank = static_cast<std::size_t>(rank_of(call));
        const bool is_reduced = name == "ncclAllReduce" || (name == "ncclReduce" && rank == 0);
        for (std::size_t place = 0; place < call.count; ++place) {
            if (is_reduced) {
                fake::store(call.receive, place, type,
                            sum_at(calls, place) + fake::state().wrong_by);
            } else if (name == "ncclReduceScatter") {
                fake::store(call.receive, place, type, sum_at(calls, rank * call.count + place));
            }
        }
        if (name == "ncclBroadcast") {
            std::memcpy(call.receive, calls[0].send, part);
        } else if (name == "ncclAllGather") {
            for (const Pending& other : calls) {
                std::memcpy(call.receive + static_cast<std::size_t>(rank_of(other)) * part,
                            other.send, part);
            }
        }
    }
}

/// Pairs what is sent with what is received.
void deliver(const std::vector<Pending>& calls) {
    std::multimap<std::pair<int, int>, const Pending*> sent;
    for (const Pending& call : calls) {
        if (call.call == "ncclSend") {
            sent.emplace(std::pair(rank_of(call), call.peer), &call);
        }
    }
    for (const Pending& call : calls) {
        const auto found = sent.find(std::pair(call.peer, rank_of(call)));
        if (call.call == "ncclRecv" && found != sent.end()) {
            std::memcpy(call.receive, found->second->send,
                        call.count * static_cast<std::size_t>(nccl_bytes(call.type)));
            sent.erase(found);
        }
    }
}

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
    at(stream).clock_ns += fake::next_time_ns();
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

int ncclGetVersion(int* version) {
    *version = 22809;
    return fails("ncclGetVersion") ? kNcclError : 0;
}
const char* ncclGetErrorString(int) { return "made to fail"; }
int ncclGetUniqueId(UniqueId* id) {
    std::strcpy(id->bytes.data(), "a unique id");
    return fails("ncclGetUniqueId") ? kNcclError : 0;
}
int ncclCommInitAll(void** communicators, int count, const int*) {
    if (fails("ncclCommInitAll")) return kNcclError;
    for (int rank = 0; rank < count; ++rank) {
        communicators[rank] = make("communicator");
        at(communicators[rank]).numbers = {rank, count};
    }
    return 0;
}
int ncclCommInitRank(void** communicator, int count, UniqueId, int rank) {
    if (fails("ncclCommInitRank")) return kNcclError;
    *communicator = make("communicator");
    at(*communicator).numbers = {rank, count};
    return 0;
}
int ncclCommDestroy(void* communicator) {
    fails("ncclCommDestroy");
    drop(communicator, "communicator");
    return 0;
}
int ncclCommAbort(void* communicator) {
    fails("ncclCommAbort");
    drop(communicator, "communicator");
    return 0;
}
int ncclCommGetAsyncError(void*, int* code) {
    *code = 0;
    return fails("ncclCommGetAsyncError") ? kNcclError : 0;
}
int ncclGroupStart() {
    pending().clear();
    return fails("ncclGroupStart") ? kNcclError : 0;
}
int ncclGroupEnd() {
    if (fails("ncclGroupEnd")) return kNcclError;
    const std::vector<Pending> calls = std::move(pending());
    pending().clear();
    if (!calls.empty() && (calls[0].call == "ncclSend" || calls[0].call == "ncclRecv")) {
        deliver(calls);
    } else if (!calls.empty()) {
        exchange(calls);
    }
    std::set<void*> streams;
    const double time_ns = fake::next_time_ns();
    for (const Pending& call : calls) {
        if (streams.insert(call.stream).second) {
            at(call.stream).clock_ns += time_ns;
        }
    }
    return 0;
}
int ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int, void* c,
                  void* s) {
    return queue({"ncclAllReduce", static_cast<const char*>(send), static_cast<char*>(receive),
                  count, type, 0, c, s});
}
int ncclAllGather(const void* send, void* receive, std::size_t count, int type, void* c, void* s) {
    return queue({"ncclAllGather", static_cast<const char*>(send), static_cast<char*>(receive),
                  count, type, 0, c, s});
}
int ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int, void* c,
                      void* s) {
    return queue({"ncclReduceScatter", static_cast<const char*>(send), static_cast<char*>(receive),
                  count, type, 0, c, s});
}
int ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root, void* c,
                  void* s) {
    return queue({"ncclBroadcast", static_cast<const char*>(send), static_cast<char*>(receive),
                  count, type, root, c, s});
}
int ncclReduce(const void* send, void* receive, std::size_t count, int type, int, int root, void* c,
               void* s) {
    return queue({"ncclReduce", static_cast<const char*>(send), static_cast<char*>(receive), count,
                  type, root, c, s});
}
int ncclSend(const void* send, std::size_t count, int type, int peer, void* c, void* s) {
    return queue({"ncclSend", static_cast<const char*>(send), nullptr, count, type, peer, c, s});
}
int ncclRecv(void* receive, std::size_t count, int type, int peer, void* c, void* s) {
    return queue({"ncclRecv", nullptr, static_cast<char*>(receive), count, type, peer, c, s});
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
    return nvml("mig", mode, 0);
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
    *count = 0;
    return fails("processes") ? kNvmlError : 0;
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
    *reasons = 4;
    return fails("reasons") ? kNvmlError : 0;
}
}
