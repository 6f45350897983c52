/// How a GPU is doing: clocks, power, temperature and what holds it back, as NVML tells it.

#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "library.hpp"

namespace nsysan::calibrate {

/// One look at a GPU; what NVML did not tell is missing.
struct Reading {
    std::optional<unsigned> sm_clock_mhz;
    std::optional<unsigned> memory_clock_mhz;
    std::optional<unsigned> power_mw;
    std::optional<unsigned> temperature_celsius;
    std::optional<unsigned long long> reasons;
};

/// NVML from its start to its end.
class Nvml {
  public:
    explicit Nvml(const std::string& path);
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;
    ~Nvml();

    std::string driver_version() const;
    /// What is set on a GPU, by name; what NVML does not tell is not in it.
    std::map<std::string, long long> settings(const std::string& bus_id) const;
    /// The nearest thing that two GPUs hang on, and whether NVLink joins them; null where NVML does
    /// not tell.
    std::optional<int> common_ancestor(const std::string& one, const std::string& other) const;
    std::optional<bool> is_joined_by_nvlink(const std::string& one, const std::string& other) const;

    Reading read(void* device) const;
    void* device(const std::string& bus_id) const;

  private:
    unsigned nvlink_count(void* device) const;

    NvmlFunctions functions_;
};

/// Looks at a GPU again and again, from its making until it is stopped.
class Sampler {
  public:
    Sampler(std::shared_ptr<const Nvml> nvml, const std::string& bus_id,
            std::chrono::milliseconds between);
    Sampler(const Sampler&) = delete;
    Sampler& operator=(const Sampler&) = delete;
    ~Sampler();

    /// Everything seen, at least one reading.
    std::vector<Reading> stop();

  private:
    void run();

    std::shared_ptr<const Nvml> nvml_;
    void* device_;
    std::chrono::milliseconds between_;
    std::vector<Reading> readings_;
    std::atomic<bool> is_stopped_{false};
    std::thread thread_;
};

}  // namespace nsysan::calibrate
