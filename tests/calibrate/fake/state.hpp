/// What the fake libraries remember: a virtual clock, every call, what is alive, and which call is
/// to fail.

#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace fake {

/// A thing that a library handed out; it is alive until it is given back.
struct Thing {
    std::string kind;
    std::vector<char> bytes;
    double clock_ns = 0;
    const volatile unsigned* gate = nullptr;
    unsigned gate_value = 0;
    std::vector<long long> numbers;
    void* other = nullptr;
};

struct State {
    std::vector<std::string> log;
    std::map<void*, Thing*> alive;
    std::vector<double> times_ns{1000.0};
    std::size_t next_time = 0;
    int fail_at = 0;
    std::string fail_in;
    int call_count = 0;
    int algorithm_count = 3;
    /// What products take by any algorithm but the first, as a share of the programmed time.
    double others_take = 1;
    int device_count = 2;
    bool hangs = false;
    bool lacks_gates = false;
    double wrong_by = 0;
    /// Of a collective: what it takes at least, what it moves in a second (0: it takes the
    /// programmed time), and how much longer this process waits in it.
    double latency_ns = 0;
    double bytes_per_s = 0;
    double early_by_ns = 0;
    bool loses_parts = false;
    int first_uuid = 1;
    int processes = 0;
    bool is_mig = false;
    unsigned long long reasons = 4;
};

State& state();

/// Writes the call down; true where it is the one that is to fail.
bool fails(const std::string& call);
void* make(const std::string& kind, std::size_t size_bytes = 0);
/// Gives it back; what was not alive is written down as a fault.
void drop(void* thing, const std::string& kind);
Thing& at(void* thing);
/// The programmed time of the next piece of work, in turn.
double next_time_ns();

}  // namespace fake
