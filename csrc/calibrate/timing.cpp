#include "timing.hpp"

#include <optional>

namespace nsysan::calibrate {
namespace {

constexpr int kNotReady = 600;
constexpr int kThreadLocalCapture = 1;
/// More launches than this would fill the queue of a stream, and the host would wait for a stream
/// that it holds.
constexpr int kQueueLength = 900;

using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

void launch_kernel(const Stream& stream, void* function, unsigned grid, unsigned block,
                   std::vector<std::uint64_t>& arguments) {
    std::vector<void*> places;
    for (std::uint64_t& argument : arguments) {
        places.push_back(&argument);
    }
    const Driver& driver = stream.device().driver();
    driver.check(driver.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream.get(),
                                       places.data(), nullptr),
                 "cuLaunchKernel");
}

void launch_empty(const Stream& stream, void* function) {
    std::vector<std::uint64_t> nothing;
    launch_kernel(stream, function, 1, 1, nothing);
}

void copy(const Stream& stream, DevicePointer target, DevicePointer source,
          std::size_t size_bytes) {
    const Driver& driver = stream.device().driver();
    driver.check(driver.cuMemcpyAsync(target, source, size_bytes, stream.get()), "cuMemcpyAsync");
}

void wait_without_sleep(const Stream& stream, Clock::time_point end) {
    const Driver& driver = stream.device().driver();
    int code = kNotReady;
    while (code == kNotReady) {
        code = driver.cuStreamQuery(stream.get());
        if (code == kNotReady && Clock::now() > end) {
            throw Stalled("an empty kernel did not finish");
        }
    }
    driver.check(code, "cuStreamQuery");
}

/// The host's time for each launch of an empty kernel with what follows it.
template <typename Follow>
std::vector<double> time_on_host(const Stream& stream, void* function, int count, Follow follow) {
    std::vector<double> times_ns;
    for (int call = 0; call < count; ++call) {
        const auto begin = Clock::now();
        launch_empty(stream, function);
        follow(begin);
        times_ns.push_back(ns_since(begin));
    }
    return times_ns;
}

/// A graph of a chain of empty kernels, ready to be launched.
Owned chain(const Stream& stream, void* function, int node_count) {
    const Driver& driver = stream.device().driver();
    driver.check(driver.cuStreamBeginCapture_v2(stream.get(), kThreadLocalCapture),
                 "cuStreamBeginCapture");
    std::optional<CallFailed> failure;
    try {
        for (int node = 0; node < node_count; ++node) {
            launch_empty(stream, function);
        }
    } catch (const CallFailed& error) {
        failure = error;
    }
    // a stream that captures must be told to stop, whatever happened
    void* captured = nullptr;
    const int code = driver.cuStreamEndCapture(stream.get(), &captured);
    const Owned graph(captured, [&driver](void* held) { driver.cuGraphDestroy(held); });
    if (failure) {
        throw *failure;
    }
    driver.check(code, "cuStreamEndCapture");
    void* ready = nullptr;
    driver.check(driver.cuGraphInstantiateWithFlags(&ready, graph.get(), 0), "cuGraphInstantiate");
    return {ready, [&driver](void* held) { driver.cuGraphExecDestroy(held); }};
}

}  // namespace

void Batch::check() const {
    if (sample_count < 1 || launch_count < 1 || sample_count > kQueueLength ||
        launch_count > kQueueLength || sample_count * (launch_count + 2) > kQueueLength) {
        throw std::invalid_argument("a batch holds between 1 and 900 launches and events");
    }
}

std::vector<double> time_on_stream(const Stream& stream, const Batch& batch,
                                   const std::function<void(int)>& launch) {
    batch.check();
    stream.device().enter();
    std::vector<Event> begins;
    std::vector<Event> ends;
    for (int sample = 0; sample < batch.sample_count; ++sample) {
        begins.emplace_back(stream.device());
        ends.emplace_back(stream.device());
    }
    std::optional<Gate> gate;
    if (batch.is_held) {
        gate.emplace(stream);
    }
    for (int sample = 0; sample < batch.sample_count; ++sample) {
        begins[sample].record(stream);
        for (int number = 0; number < batch.launch_count; ++number) {
            launch(sample * batch.launch_count + number);
        }
        ends[sample].record(stream);
    }
    if (gate) {
        gate->open();
    }
    stream.wait(batch.limit);
    std::vector<double> times_ns;
    for (int sample = 0; sample < batch.sample_count; ++sample) {
        times_ns.push_back(ends[sample].since_ns(begins[sample]) / batch.launch_count);
    }
    return times_ns;
}

std::vector<double> time_kernel(const Kernels& kernels, const std::string& name, unsigned grid,
                                unsigned block, std::vector<std::uint64_t> arguments,
                                const Batch& batch) {
    const Stream stream(kernels.device());
    void* function = kernels.function(name);
    return time_on_stream(stream, batch,
                          [&](int) { launch_kernel(stream, function, grid, block, arguments); });
}

std::vector<double> time_copies(const std::shared_ptr<const Device>& device, DevicePointer target,
                                DevicePointer source, std::size_t size_bytes, const Batch& batch) {
    const Stream stream(device);
    return time_on_stream(stream, batch, [&](int) { copy(stream, target, source, size_bytes); });
}

std::vector<double> time_copies_on_host(const std::shared_ptr<const Device>& device,
                                        DevicePointer target, DevicePointer source,
                                        std::size_t size_bytes, const Batch& batch) {
    batch.check();
    const Stream stream(device);
    std::vector<double> times_ns;
    for (int sample = 0; sample < batch.sample_count; ++sample) {
        const auto begin = Clock::now();
        for (int number = 0; number < batch.launch_count; ++number) {
            copy(stream, target, source, size_bytes);
        }
        wait_without_sleep(stream, begin + batch.limit);
        times_ns.push_back(ns_since(begin) / batch.launch_count);
    }
    return times_ns;
}

std::vector<double> time_calls(const Kernels& kernels, const std::string& name, int count,
                               std::chrono::milliseconds limit) {
    const Stream stream(kernels.device());
    auto times_ns = time_on_host(stream, kernels.function(name), count, [](Clock::time_point) {});
    stream.wait(limit);
    return times_ns;
}

std::vector<double> time_round_trips(const Kernels& kernels, const std::string& name, int count,
                                     std::chrono::milliseconds limit) {
    const Stream stream(kernels.device());
    return time_on_host(stream, kernels.function(name), count, [&](Clock::time_point begin) {
        wait_without_sleep(stream, begin + limit);
    });
}

GraphTimes time_graph(const Kernels& kernels, const std::string& name, int node_count, int count,
                      std::chrono::milliseconds limit) {
    const Stream stream(kernels.device());
    const Owned graph = chain(stream, kernels.function(name), node_count);
    const Driver& driver = stream.device().driver();
    GraphTimes times;
    const Batch batch{count, 1, false, limit};
    times.run_ns = time_on_stream(stream, batch, [&](int) {
        const auto begin = Clock::now();
        driver.check(driver.cuGraphLaunch(graph.get(), stream.get()), "cuGraphLaunch");
        times.call_ns.push_back(ns_since(begin));
    });
    return times;
}

}  // namespace nsysan::calibrate
