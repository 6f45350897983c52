/// How long things take: on the GPU between events, or on the host until they return.

#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "device.hpp"

namespace nsysan::calibrate {

/// So many samples, each of so many launches one behind the other.
struct Batch {
    int sample_count;
    int launch_count;
    /// Whether all is queued before the first launch runs, so that the host's speed does not
    /// matter.
    bool is_held;
    std::chrono::milliseconds limit;

    void check() const;
};

/// Of a graph: what each launch cost the host, and what it took on the GPU.
struct GraphTimes {
    std::vector<double> call_ns;
    std::vector<double> run_ns;
};

/// Nanoseconds of a launch, the mean of each sample; `launch` is told which one it is, counted over
/// all samples.
std::vector<double> time_on_stream(const Stream& stream, const Batch& batch,
                                   const std::function<void(int)>& launch);

/// The launches of a kernel. Arguments are pointers and counts of 64 bits.
std::vector<double> time_kernel(const Kernels& kernels, const std::string& name, unsigned grid,
                                unsigned block, std::vector<std::uint64_t> arguments,
                                const Batch& batch);

/// Copies by a copy engine. From or to memory that is not pinned they are timed on the host, which
/// makes them itself.
std::vector<double> time_copies(const std::shared_ptr<const Device>& device, DevicePointer target,
                                DevicePointer source, std::size_t size_bytes, const Batch& batch);
std::vector<double> time_copies_on_host(const std::shared_ptr<const Device>& device,
                                        DevicePointer target, DevicePointer source,
                                        std::size_t size_bytes, const Batch& batch);

/// Nanoseconds that each call took to launch a kernel, many in a row.
std::vector<double> time_calls(const Kernels& kernels, const std::string& name, int count,
                               std::chrono::milliseconds limit);

/// Nanoseconds from each call until the host knows that the kernel is done.
std::vector<double> time_round_trips(const Kernels& kernels, const std::string& name, int count,
                                     std::chrono::milliseconds limit);

/// Launches of a graph that is a chain of so many of the kernel.
GraphTimes time_graph(const Kernels& kernels, const std::string& name, int node_count, int count,
                      std::chrono::milliseconds limit);

}  // namespace nsysan::calibrate
