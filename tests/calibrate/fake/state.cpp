#include "state.hpp"

#include <algorithm>
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
    return ++state().call_count == state().fail_at;
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
    const std::string name = what;
    if (name == "fail_at") {
        s.fail_at = static_cast<int>(value);
    } else if (name == "algorithms") {
        s.algorithm_count = static_cast<int>(value);
    } else if (name == "devices") {
        s.device_count = static_cast<int>(value);
    } else if (name == "hangs") {
        s.hangs = value != 0;
    } else if (name == "lacks_gates") {
        s.lacks_gates = value != 0;
    } else if (name == "wrong_by") {
        s.wrong_by = value;
    }
}

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
