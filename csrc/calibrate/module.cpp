/// `nsysan.calibrate._native`: what a calibration asks of NVIDIA's libraries. It answers raw
/// samples in nanoseconds.

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "collectives.hpp"
#include "gemm.hpp"
#include "telemetry.hpp"

namespace py = pybind11;
using namespace py::literals;

namespace nsysan::calibrate {
namespace {

using Released = py::call_guard<py::gil_scoped_release>;
using Milliseconds = std::chrono::milliseconds;

template <typename Library>
std::shared_ptr<const Library> opened(const std::string& path) {
    return std::make_shared<const Library>(path);
}

DevicePointer address_of(const py::object& memory) {
    if (py::isinstance<Buffer>(memory)) {
        return memory.cast<const Buffer&>().address();
    }
    return memory.cast<const HostBuffer&>().address();
}

std::size_t size_of(const py::object& memory) {
    if (py::isinstance<Buffer>(memory)) {
        return memory.cast<const Buffer&>().size_bytes();
    }
    return memory.cast<const HostBuffer&>().size_bytes();
}

py::bytes read(const Buffer& buffer, std::size_t offset_bytes, std::size_t size_bytes) {
    std::string target(size_bytes, '\0');
    {
        const py::gil_scoped_release released;
        buffer.read(offset_bytes, size_bytes, target.data());
    }
    return target;
}

void tile(const Buffer& buffer, const py::bytes& block) {
    const std::string_view view(block);
    const py::gil_scoped_release released;
    buffer.tile(view.data(), view.size());
}

std::vector<double> copies(const std::shared_ptr<Device>& device, const py::object& target,
                           const py::object& source, std::size_t size_bytes, const Batch& batch) {
    if (size_bytes > size_of(target) || size_bytes > size_of(source)) {
        throw std::invalid_argument("a copy is larger than its memory");
    }
    const auto is_pageable = [](const py::object& memory) {
        return py::isinstance<HostBuffer>(memory) && !memory.cast<const HostBuffer&>().is_pinned();
    };
    const bool on_host = is_pageable(target) || is_pageable(source);
    const DevicePointer to = address_of(target);
    const DevicePointer from = address_of(source);
    const py::gil_scoped_release released;
    return on_host ? time_copies_on_host(device, to, from, size_bytes, batch)
                   : time_copies(device, to, from, size_bytes, batch);
}

std::vector<double> kernel_times(const Kernels& kernels, const std::string& name, unsigned grid,
                                 unsigned block, const std::vector<py::object>& arguments,
                                 const Batch& batch) {
    std::vector<std::uint64_t> values;
    for (const py::object& argument : arguments) {
        values.push_back(py::isinstance<py::int_>(argument) ? argument.cast<std::uint64_t>()
                                                            : address_of(argument));
    }
    const py::gil_scoped_release released;
    return time_kernel(kernels, name, grid, block, std::move(values), batch);
}

UniqueId id_of(const py::bytes& bytes) {
    const std::string_view view(bytes);
    UniqueId id{};
    if (view.size() != id.bytes.size()) {
        throw std::invalid_argument("an id of NCCL has 128 bytes");
    }
    std::copy(view.begin(), view.end(), id.bytes.begin());
    return id;
}

void add_libraries(py::module_& module) {
    py::class_<Driver, std::shared_ptr<Driver>>(module, "Driver")
        .def(py::init<const std::string&>(), "path"_a, Released())
        .def_property_readonly("version", &Driver::version)
        .def_property_readonly("device_count", &Driver::device_count);
    py::class_<CublasLt, std::shared_ptr<CublasLt>>(module, "CublasLt")
        .def(py::init<const std::string&>(), "path"_a, Released())
        .def_property_readonly("version",
                               [](const CublasLt& lt) { return lt.cublasLtGetVersion(); });
    py::class_<Nccl, std::shared_ptr<Nccl>>(module, "Nccl")
        .def(py::init<const std::string&>(), "path"_a, Released())
        .def_property_readonly("version", &Nccl::version)
        .def("unique_id", [](const Nccl& nccl) {
            const UniqueId id = nccl.unique_id();
            return py::bytes(id.bytes.data(), id.bytes.size());
        });
    py::class_<Nvrtc, std::shared_ptr<Nvrtc>>(module, "Nvrtc")
        .def(py::init<const std::string&>(), "path"_a, Released())
        .def_property_readonly("version", &Nvrtc::version)
        .def("compile",
             [](const Nvrtc& nvrtc, const std::string& source, const std::string& architecture) {
                 std::string code;
                 {
                     const py::gil_scoped_release released;
                     code = nvrtc.compile(source, architecture);
                 }
                 return py::bytes(code);
             });
}

void add_device(py::module_& module) {
    py::class_<DeviceFacts>(module, "DeviceFacts")
        .def_readonly("name", &DeviceFacts::name)
        .def_property_readonly("uuid", [](const DeviceFacts& f) { return py::bytes(f.uuid); })
        .def_readonly("bus_id", &DeviceFacts::bus_id)
        .def_property_readonly(
            "capability",
            [](const DeviceFacts& f) { return std::pair(f.capability_major, f.capability_minor); })
        .def_readonly("sm_count", &DeviceFacts::sm_count)
        .def_readonly("memory_bytes", &DeviceFacts::memory_bytes)
        .def_readonly("l2_bytes", &DeviceFacts::l2_bytes)
        .def_readonly("sm_clock_khz", &DeviceFacts::sm_clock_khz)
        .def_readonly("memory_clock_khz", &DeviceFacts::memory_clock_khz)
        .def_readonly("memory_bus_bits", &DeviceFacts::memory_bus_bits);
    py::class_<Device, std::shared_ptr<Device>>(module, "Device")
        .def(py::init([](const std::shared_ptr<Driver>& driver, int index) {
                 return std::make_shared<Device>(driver, index);
             }),
             "driver"_a, "index"_a, Released())
        .def_property_readonly("index", &Device::index)
        .def_property_readonly("facts", &Device::facts)
        .def_property_readonly("free_bytes", &Device::free_bytes)
        .def("reach", &Device::reach, "other"_a)
        .def("time_copies", &copies, "target"_a, "source"_a, "size_bytes"_a, "batch"_a);
    py::class_<Buffer, std::shared_ptr<Buffer>>(module, "Buffer")
        .def(py::init([](const std::shared_ptr<Device>& device, std::size_t size_bytes) {
                 return std::make_shared<Buffer>(device, size_bytes);
             }),
             "device"_a, "size_bytes"_a, Released())
        .def_property_readonly("size_bytes", &Buffer::size_bytes)
        .def("tile", &tile, "block"_a)
        .def("fill", &Buffer::fill, "value"_a, Released())
        .def("read", &read, "offset_bytes"_a, "size_bytes"_a);
    py::class_<HostBuffer>(module, "HostBuffer")
        .def(py::init(
                 [](const std::shared_ptr<Device>& device, std::size_t size_bytes, bool is_pinned) {
                     return std::make_unique<HostBuffer>(device, size_bytes, is_pinned);
                 }),
             "device"_a, "size_bytes"_a, py::kw_only(), "is_pinned"_a, Released())
        .def_property_readonly("size_bytes", &HostBuffer::size_bytes);
}

void add_measurements(py::module_& module) {
    py::class_<Batch>(module, "Batch")
        .def(py::init([](int samples, int launches, bool is_held, int limit_ms) {
                 return Batch{samples, launches, is_held, Milliseconds(limit_ms)};
             }),
             py::kw_only(), "samples"_a, "launches"_a, "is_held"_a, "limit_ms"_a);
    py::class_<Kernels>(module, "Kernels")
        .def(py::init([](const std::shared_ptr<Device>& device, const py::bytes& image) {
                 return std::make_unique<Kernels>(device, image);
             }),
             "device"_a, "image"_a)
        .def("time", &kernel_times, "name"_a, "grid"_a, "block"_a, "arguments"_a, "batch"_a)
        .def(
            "time_calls",
            [](const Kernels& kernels, const std::string& name, int count, int limit_ms) {
                return time_calls(kernels, name, count, Milliseconds(limit_ms));
            },
            "name"_a, "count"_a, "limit_ms"_a, Released())
        .def(
            "time_round_trips",
            [](const Kernels& kernels, const std::string& name, int count, int limit_ms) {
                return time_round_trips(kernels, name, count, Milliseconds(limit_ms));
            },
            "name"_a, "count"_a, "limit_ms"_a, Released())
        .def(
            "time_graph",
            [](const Kernels& kernels, const std::string& name, int nodes, int count,
               int limit_ms) {
                const GraphTimes times =
                    time_graph(kernels, name, nodes, count, Milliseconds(limit_ms));
                return std::pair(times.call_ns, times.run_ns);
            },
            "name"_a, "nodes"_a, "count"_a, "limit_ms"_a, Released());
    using Factor = std::shared_ptr<Buffer>;
    py::class_<Product>(module, "Product")
        .def(py::init([](std::uint64_t m, std::uint64_t n, std::uint64_t k, bool a_is_transposed,
                         bool b_is_transposed, int factor_type, int result_type, int compute_type,
                         int scale_type, int scale_mode, const Factor& a_scale,
                         const Factor& b_scale, bool accumulates_fast) {
                 return Product{m,
                                n,
                                k,
                                a_is_transposed,
                                b_is_transposed,
                                factor_type,
                                result_type,
                                compute_type,
                                scale_type,
                                scale_mode,
                                a_scale,
                                b_scale,
                                accumulates_fast};
             }),
             py::kw_only(), "m"_a, "n"_a, "k"_a, "a_is_transposed"_a, "b_is_transposed"_a,
             "factor_type"_a, "result_type"_a, "compute_type"_a, "scale_type"_a, "scale_mode"_a,
             "a_scale"_a, "b_scale"_a, "accumulates_fast"_a);
    py::class_<Gemm>(module, "Gemm")
        .def(py::init([](const std::shared_ptr<Device>& device,
                         const std::shared_ptr<CublasLt>& library, const Product& product,
                         std::size_t workspace_bytes, int algorithm_count) {
                 return std::make_unique<Gemm>(device, library, product, workspace_bytes,
                                               algorithm_count);
             }),
             "device"_a, "library"_a, "product"_a, py::kw_only(), "workspace_bytes"_a,
             "algorithm_count"_a, Released())
        .def_property_readonly("algorithm_count", &Gemm::algorithm_count)
        .def(
            "time",
            [](const Gemm& gemm, int algorithm,
               const std::vector<std::tuple<Factor, Factor, Factor>>& operands,
               const Batch& batch) {
                std::vector<Operands> sets;
                for (const auto& [a, b, d] : operands) {
                    sets.push_back({a, b, d});
                }
                const py::gil_scoped_release released;
                return gemm.time(algorithm, sets, batch);
            },
            "algorithm"_a, "operands"_a, "batch"_a);
}

void add_collectives(py::module_& module) {
    using End = std::shared_ptr<Buffer>;
    py::class_<Communicators>(module, "Communicators")
        .def_static(
            "of_process",
            [](const std::shared_ptr<Nccl>& nccl,
               const std::vector<std::shared_ptr<Device>>& devices) {
                return std::make_unique<Communicators>(
                    nccl,
                    std::vector<std::shared_ptr<const Device>>(devices.begin(), devices.end()));
            },
            "nccl"_a, "devices"_a, Released())
        .def_static(
            "of_rank",
            [](const std::shared_ptr<Nccl>& nccl, const std::shared_ptr<Device>& device, int rank,
               int rank_count, const py::bytes& id) {
                const UniqueId unique = id_of(id);
                const py::gil_scoped_release released;
                return std::make_unique<Communicators>(nccl, device, rank, rank_count, unique);
            },
            "nccl"_a, "device"_a, py::kw_only(), "rank"_a, "rank_count"_a, "unique_id"_a)
        .def_property_readonly("rank_count", &Communicators::rank_count)
        .def(
            "time",
            [](Communicators& group, int collective, int data_type, int element_bytes,
               std::size_t element_count, const std::vector<std::pair<End, End>>& ends,
               const Batch& batch) {
                std::vector<Ends> own;
                for (const auto& [send, receive] : ends) {
                    own.push_back({send, receive});
                }
                const Exchange exchange{static_cast<Collective>(collective), data_type,
                                        element_bytes, element_count};
                const py::gil_scoped_release released;
                return group.time(exchange, own, batch);
            },
            "collective"_a, py::kw_only(), "data_type"_a, "element_bytes"_a, "element_count"_a,
            "ends"_a, "batch"_a);
}

void add_telemetry(py::module_& module) {
    py::class_<Reading>(module, "Reading")
        .def_readonly("sm_clock_mhz", &Reading::sm_clock_mhz)
        .def_readonly("memory_clock_mhz", &Reading::memory_clock_mhz)
        .def_readonly("power_mw", &Reading::power_mw)
        .def_readonly("temperature_celsius", &Reading::temperature_celsius)
        .def_readonly("reasons", &Reading::reasons);
    py::class_<Nvml, std::shared_ptr<Nvml>>(module, "Nvml")
        .def(py::init<const std::string&>(), "path"_a, Released())
        .def_property_readonly("driver_version", &Nvml::driver_version)
        .def("settings", &Nvml::settings, "bus_id"_a, Released())
        .def("common_ancestor", &Nvml::common_ancestor, "one"_a, "other"_a)
        .def("is_joined_by_nvlink", &Nvml::is_joined_by_nvlink, "one"_a, "other"_a);
    py::class_<Sampler>(module, "Sampler")
        .def(py::init(
                 [](const std::shared_ptr<Nvml>& nvml, const std::string& bus_id, int between_ms) {
                     return std::make_unique<Sampler>(nvml, bus_id, Milliseconds(between_ms));
                 }),
             "nvml"_a, "bus_id"_a, "between_ms"_a)
        .def("stop", &Sampler::stop, Released());
}

}  // namespace
}  // namespace nsysan::calibrate

PYBIND11_MODULE(_native, module) {
    using namespace nsysan::calibrate;
    py::register_exception<MissingLibrary>(module, "MissingLibraryError");
    py::register_exception<CallFailed>(module, "CallFailedError");
    py::register_exception<Stalled>(module, "StalledError");
    add_libraries(module);
    add_device(module);
    add_measurements(module);
    add_collectives(module);
    add_telemetry(module);
}
