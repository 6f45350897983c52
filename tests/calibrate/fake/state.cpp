#include "state.hpp"

#include <algorithm>
#include <functional>
#include <mutex>

namespace fake {
namespace {

constexpr std::size_t kLargest = std::size_t{16} << 20;

std::recursive_mutex& lock() {
    static std::recursive_mutex mutex;
    return mutex;
}

}  // namespace

State& state() {
    static State state;
    return state;
}

bool fails(const std::string& call) {
    const std::lock_guard guard(lock());
    state().log.push_back(call);
    return ++state().call_count == state().fail_at || call == state().fail_in;
}

void* make(const std::string& kind, std::size_t size_bytes) {
    const std::lock_guard guard(lock());
    auto* thing = new Thing;
    thing->kind = kind;
    // nothing is written into what is as large as a workspace
    thing->bytes.resize(std::min(size_bytes, kLargest));
    void* handle = size_bytes ? static_cast<void*>(thing->bytes.data()) : thing;
    state().alive[handle] = thing;
    return handle;
}

void drop(void* handle, const std::string& kind) {
    const std::lock_guard guard(lock());
    const auto found = state().alive.find(handle);
    if (found == state().alive.end() || found->second->kind != kind) {
        state().log.push_back("FAULT: " + kind + " that is not there");
        return;
    }
    delete found->second;
    state().alive.erase(found);
}

Thing& at(void* handle) {
    const std::lock_guard guard(lock());
    static Thing nothing;
    const auto found = state().alive.find(handle);
    if (found == state().alive.end()) {
        state().log.push_back("FAULT: use of what is not there");
        return nothing;
    }
    return *found->second;
}

double next_time_ns() {
    State& s = state();
    return s.times_ns[s.next_time++ % s.times_ns.size()];
}

}  // namespace fake

// what the tests ask and say
extern "C" {

void fake_reset() {
    fake::State& s = fake::state();
    for (auto& [handle, thing] : s.alive) {
        delete thing;
    }
    s = fake::State();
}

void fake_program(const double* times_ns, int count) {
    fake::state().times_ns.assign(times_ns, times_ns + count);
    fake::state().next_time = 0;
}

void fake_set(const char* what, double value) {
    fake::State& s = fake::state();
    const std::map<std::string, std::function<void()>> settings{
        {"fail_at", [&] { s.fail_at = static_cast<int>(value); }},
        {"algorithms", [&] { s.algorithm_count = static_cast<int>(value); }},
        {"others_take", [&] { s.others_take = value; }},
        {"devices", [&] { s.device_count = static_cast<int>(value); }},
        {"hangs", [&] { s.hangs = value != 0; }},
        {"lacks_gates", [&] { s.lacks_gates = value != 0; }},
        {"wrong_by", [&] { s.wrong_by = value; }},
        {"latency_ns", [&] { s.latency_ns = value; }},
        {"bytes_per_s", [&] { s.bytes_per_s = value; }},
        {"early_by_ns", [&] { s.early_by_ns = value; }},
        {"loses_parts", [&] { s.loses_parts = value != 0; }},
        {"first_uuid", [&] { s.first_uuid = static_cast<int>(value); }},
        {"processes", [&] { s.processes = static_cast<int>(value); }},
        {"is_mig", [&] { s.is_mig = value != 0; }},
        {"reasons", [&] { s.reasons = static_cast<unsigned long long>(value); }},
    };
    settings.at(what)();
}

void fake_fail_in(const char* call) { fake::state().fail_in = call; }

int fake_call_count() { return fake::state().call_count; }

/// What is alive, and faults, one a line.
const char* fake_alive() {
    static std::string text;
    text.clear();
    for (const auto& [handle, thing] : fake::state().alive) {
        text += thing->kind + "\n";
    }
    return text.c_str();
}

const char* fake_log() {
    static std::string text;
    text.clear();
    for (const std::string& call : fake::state().log) {
        text += call + "\n";
    }
    return text.c_str();
}
}
