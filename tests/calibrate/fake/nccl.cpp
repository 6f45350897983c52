/// NCCL as a calibration sees it, in one process or in several; sums are really done.

#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "../../../csrc/calibrate/abi.hpp"
#include "meeting.hpp"
#include "numbers.hpp"
#include "state.hpp"

using namespace nsysan::calibrate;
using fake::at;
using fake::drop;
using fake::fails;
using fake::make;

namespace {

constexpr int kNcclError = 1;
constexpr int kFloat32 = 7;

/// A call that waits for the end of its group; one of another process has nowhere to receive.
struct Pending {
    std::string call;
    const char* send;
    char* receive;
    std::size_t count;
    int type;
    int peer;
    int rank;
    void* communicator;
    void* stream;
};

using Calls = std::vector<Pending>;

Calls& pending() {
    static Calls calls;
    return calls;
}

std::map<void*, std::unique_ptr<fake::Meeting>>& meetings() {
    static std::map<void*, std::unique_ptr<fake::Meeting>> of_communicators;
    return of_communicators;
}

std::size_t nccl_bytes(int type) {
    return type == kFloat32 ? 4 : type == 9 || type == 6 ? 2 : type == 8 ? 8 : 1;
}

int cuda_type(int type) {
    return type == kFloat32 ? 0 : type == 9 ? 14 : type == 6 ? 2 : type == 8 ? 1 : 3;
}

/// How many bytes a call gives away.
std::size_t sent_bytes(const Pending& call, std::size_t rank_count) {
    const std::size_t part = call.count * nccl_bytes(call.type);
    return call.send == nullptr ? 0 : call.call == "ncclReduceScatter" ? part * rank_count : part;
}

int queue(Pending call) {
    if (fails(call.call)) {
        return kNcclError;
    }
    call.rank = static_cast<int>(at(call.communicator).numbers[0]);
    pending().push_back(std::move(call));
    return 0;
}

double sum_at(const Calls& calls, std::size_t place) {
    double sum = 0;
    for (const Pending& call : calls) {
        sum += fake::load(call.send, place, cuda_type(call.type));
    }
    return sum;
}

/// Does what the calls of all ranks of one collective, in order of rank, ask for.
void exchange(const Calls& calls) {
    const std::size_t part = calls[0].count * nccl_bytes(calls[0].type);
    const std::string& name = calls[0].call;
    for (const Pending& call : calls) {
        if (call.receive == nullptr) {
            continue;
        }
        const int type = cuda_type(call.type);
        const auto rank = static_cast<std::size_t>(call.rank);
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
            const std::size_t kept = calls.size() - (fake::state().loses_parts ? 1 : 0);
            for (std::size_t sender = 0; sender < kept; ++sender) {
                std::memcpy(call.receive + sender * part, calls[sender].send, part);
            }
        }
    }
}

/// Pairs what is sent with what is received.
void deliver(const Calls& calls) {
    std::multimap<std::pair<int, int>, const Pending*> sent;
    for (const Pending& call : calls) {
        if (call.call == "ncclSend") {
            sent.emplace(std::pair(call.rank, call.peer), &call);
        }
    }
    for (const Pending& call : calls) {
        const auto found = sent.find(std::pair(call.peer, call.rank));
        if (call.receive != nullptr && found != sent.end()) {
            std::memcpy(call.receive, found->second->send, call.count * nccl_bytes(call.type));
            sent.erase(found);
        }
    }
}

struct Heading {
    char call[24];
    std::size_t count;
    std::size_t sent;
    int type;
    int peer;
};

/// What a process tells the others of its calls.
std::vector<char> packed(const Calls& calls, std::size_t rank_count) {
    std::vector<char> bytes;
    for (const Pending& call : calls) {
        Heading heading{{}, call.count, sent_bytes(call, rank_count), call.type, call.peer};
        std::strncpy(heading.call, call.call.c_str(), sizeof heading.call - 1);
        const auto* begin = reinterpret_cast<const char*>(&heading);
        bytes.insert(bytes.end(), begin, begin + sizeof heading);
        bytes.insert(bytes.end(), call.send, call.send + heading.sent);
    }
    return bytes;
}

/// The calls in it, which receive nothing here.
Calls unpacked(const std::vector<char>& bytes, int rank) {
    Calls calls;
    for (std::size_t place = 0; place < bytes.size();) {
        Heading heading{};
        std::memcpy(&heading, bytes.data() + place, sizeof heading);
        place += sizeof heading;
        calls.push_back({heading.call, bytes.data() + place, nullptr, heading.count, heading.type,
                         heading.peer, rank, nullptr, nullptr});
        place += heading.sent;
    }
    return calls;
}

bool are_alike(const Calls& one, const Calls& other) {
    return one.size() == other.size() && one[0].call == other[0].call &&
           one[0].count == other[0].count;
}

/// The calls with those of the other processes' ranks; none where these call something else or do
/// not come: real ones would wait for ever.
Calls with_those_of_others(const Calls& own, const std::vector<std::vector<char>>& told) {
    Calls all;
    for (std::size_t rank = 0; rank < told.size(); ++rank) {
        const bool is_own = static_cast<int>(rank) == own[0].rank;
        const Calls calls = is_own ? own : unpacked(told[rank], static_cast<int>(rank));
        if (calls.empty() || !are_alike(calls, own)) {
            fake::state().log.push_back("FAULT: ranks call different things");
            return {};
        }
        all.insert(all.end(), calls.begin(), calls.end());
    }
    return all;
}

/// What a group takes on the clock.
double time_ns(const Calls& calls) {
    const fake::State& s = fake::state();
    if (s.bytes_per_s == 0) {
        return fake::next_time_ns();
    }
    std::size_t sent = 0;
    for (const Pending& call : calls) {
        if (call.rank == calls[0].rank) {
            const auto rank_count = static_cast<std::size_t>(at(call.communicator).numbers[1]);
            sent += sent_bytes(call, rank_count);
        }
    }
    return s.latency_ns + static_cast<double>(sent) / s.bytes_per_s * 1e9 + s.early_by_ns;
}

void* made(int rank, int count) {
    void* communicator = make("communicator");
    at(communicator).numbers = {rank, count};
    return communicator;
}

int dropped(const char* call, void* communicator) {
    fails(call);
    meetings().erase(communicator);
    drop(communicator, "communicator");
    return 0;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
    *version = 22809;
    return fails("ncclGetVersion") ? kNcclError : 0;
}
const char* ncclGetErrorString(int) { return "made to fail"; }
int ncclGetUniqueId(UniqueId* id) {
    if (fails("ncclGetUniqueId")) return kNcclError;
    std::strncpy(id->bytes.data(), fake::Meeting::arrange().c_str(), id->bytes.size() - 1);
    return 0;
}
int ncclCommInitAll(void** communicators, int count, const int*) {
    if (fails("ncclCommInitAll")) return kNcclError;
    for (int rank = 0; rank < count; ++rank) {
        communicators[rank] = made(rank, count);
    }
    return 0;
}
int ncclCommInitRank(void** communicator, int count, UniqueId id, int rank) {
    const std::string path = id.bytes.data();
    if (fails("ncclCommInitRank")) {
        fake::Meeting::decline(path, rank);
        return kNcclError;
    }
    *communicator = made(rank, count);
    if (!path.empty()) {
        meetings()[*communicator] = std::make_unique<fake::Meeting>(path, rank, count);
    }
    return 0;
}
int ncclCommDestroy(void* communicator) { return dropped("ncclCommDestroy", communicator); }
int ncclCommAbort(void* communicator) { return dropped("ncclCommAbort", communicator); }
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
    const Calls own = std::move(pending());
    pending().clear();
    if (own.empty()) return 0;
    Calls all = own;
    std::vector<std::vector<char>> told;
    const auto met = meetings().find(own[0].communicator);
    if (met != meetings().end()) {
        const auto rank_count = static_cast<std::size_t>(at(own[0].communicator).numbers[1]);
        told = met->second->exchange(packed(own, rank_count));
        all = with_those_of_others(own, told);
    }
    if (all.empty()) {
        fake::state().hangs = true;
        return 0;
    }
    if (own[0].call == "ncclSend" || own[0].call == "ncclRecv") {
        deliver(all);
    } else {
        exchange(all);
    }
    std::set<void*> streams;
    const double each_ns = time_ns(own);
    for (const Pending& call : own) {
        if (streams.insert(call.stream).second) {
            at(call.stream).clock_ns += each_ns;
        }
    }
    return 0;
}
int ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int, void* c,
                  void* s) {
    return queue({"ncclAllReduce", static_cast<const char*>(send), static_cast<char*>(receive),
                  count, type, 0, 0, c, s});
}
int ncclAllGather(const void* send, void* receive, std::size_t count, int type, void* c, void* s) {
    return queue({"ncclAllGather", static_cast<const char*>(send), static_cast<char*>(receive),
                  count, type, 0, 0, c, s});
}
int ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int, void* c,
                      void* s) {
    return queue({"ncclReduceScatter", static_cast<const char*>(send), static_cast<char*>(receive),
                  count, type, 0, 0, c, s});
}
int ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root, void* c,
                  void* s) {
    return queue({"ncclBroadcast", static_cast<const char*>(send), static_cast<char*>(receive),
                  count, type, root, 0, c, s});
}
int ncclReduce(const void* send, void* receive, std::size_t count, int type, int, int root, void* c,
               void* s) {
    return queue({"ncclReduce", static_cast<const char*>(send), static_cast<char*>(receive), count,
                  type, root, 0, c, s});
}
int ncclSend(const void* send, std::size_t count, int type, int peer, void* c, void* s) {
    return queue({"ncclSend", static_cast<const char*>(send), nullptr, count, type, peer, 0, c, s});
}
int ncclRecv(void* receive, std::size_t count, int type, int peer, void* c, void* s) {
    return queue({"ncclRecv", nullptr, static_cast<char*>(receive), count, type, peer, 0, c, s});
}
}
