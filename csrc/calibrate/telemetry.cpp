#include "telemetry.hpp"

namespace nsysan::calibrate {
namespace {

constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kCoreSensor = 0;
constexpr int kNvlinkCapability = 2;
constexpr int kMostLinks = 18;
constexpr std::size_t kMostReadings = 100000;

template <typename Value>
void put(std::map<std::string, long long>& settings, const char* name, int code, Value value) {
    if (code == kSuccess) {
        settings[name] = static_cast<long long>(value);
    }
}

}  // namespace

Nvml::Nvml(const std::string& path) : functions_(path) {
    functions_.check(functions_.nvmlInit_v2(), "nvmlInit");
}

Nvml::~Nvml() { functions_.nvmlShutdown(); }

std::string Nvml::driver_version() const {
    char version[96] = {};
    functions_.check(functions_.nvmlSystemGetDriverVersion(version, sizeof version - 1),
                     "nvmlSystemGetDriverVersion");
    return version;
}

std::map<std::string, long long> Nvml::settings(const std::string& bus_id) const {
    void* gpu = device(bus_id);
    const NvmlFunctions& f = functions_;
    std::map<std::string, long long> found;
    unsigned value = 0;
    unsigned other = 0;
    int mode = 0;
    int pending = 0;
    int code = f.nvmlDeviceGetMaxClockInfo(gpu, kSmClock, &value);
    put(found, "sm_clock_most_mhz", code, value);
    code = f.nvmlDeviceGetMaxClockInfo(gpu, kMemoryClock, &value);
    put(found, "memory_clock_most_mhz", code, value);
    code = f.nvmlDeviceGetPowerManagementLimit(gpu, &value);
    put(found, "power_limit_mw", code, value);
    code = f.nvmlDeviceGetPowerManagementDefaultLimit(gpu, &value);
    put(found, "power_limit_default_mw", code, value);
    code = f.nvmlDeviceGetTemperature(gpu, kCoreSensor, &value);
    put(found, "temperature_celsius", code, value);
    code = f.nvmlDeviceGetEccMode(gpu, &mode, &pending);
    put(found, "ecc", code, mode);
    code = f.nvmlDeviceGetMigMode(gpu, &value, &other);
    put(found, "mig", code, value);
    code = f.nvmlDeviceGetMaxPcieLinkGeneration(gpu, &value);
    put(found, "pcie_generation", code, value);
    code = f.nvmlDeviceGetMaxPcieLinkWidth(gpu, &value);
    put(found, "pcie_width", code, value);
    put(found, "nvlink_count", kSuccess, nvlink_count(gpu));
    // with no place to put them NVML says how many there are
    value = 0;
    code = f.nvmlDeviceGetComputeRunningProcesses_v3(gpu, &value, nullptr);
    put(found, "process_count", code == kInsufficientSize ? kSuccess : code, value);
    return found;
}

unsigned Nvml::nvlink_count(void* device) const {
    unsigned count = 0;
    for (unsigned link = 0; link < kMostLinks; ++link) {
        int is_active = 0;
        const int code = functions_.nvmlDeviceGetNvLinkState(device, link, &is_active);
        count += static_cast<unsigned>(code == kSuccess && is_active != 0);
    }
    return count;
}

std::optional<int> Nvml::common_ancestor(const std::string& one, const std::string& other) const {
    int level = 0;
    const int code =
        functions_.nvmlDeviceGetTopologyCommonAncestor(device(one), device(other), &level);
    return code == kSuccess ? std::optional<int>(level) : std::nullopt;
}

std::optional<bool> Nvml::is_joined_by_nvlink(const std::string& one,
                                              const std::string& other) const {
    int status = 0;
    const int code =
        functions_.nvmlDeviceGetP2PStatus(device(one), device(other), kNvlinkCapability, &status);
    return code == kSuccess ? std::optional<bool>(status == 0) : std::nullopt;
}

void* Nvml::device(const std::string& bus_id) const {
    void* found = nullptr;
    functions_.check(functions_.nvmlDeviceGetHandleByPciBusId_v2(bus_id.c_str(), &found),
                     "nvmlDeviceGetHandleByPciBusId");
    return found;
}

Reading Nvml::read(void* device) const {
    const NvmlFunctions& f = functions_;
    Reading reading;
    unsigned value = 0;
    if (f.nvmlDeviceGetClockInfo(device, kSmClock, &value) == kSuccess) {
        reading.sm_clock_mhz = value;
    }
    if (f.nvmlDeviceGetClockInfo(device, kMemoryClock, &value) == kSuccess) {
        reading.memory_clock_mhz = value;
    }
    if (f.nvmlDeviceGetPowerUsage(device, &value) == kSuccess) {
        reading.power_mw = value;
    }
    if (f.nvmlDeviceGetTemperature(device, kCoreSensor, &value) == kSuccess) {
        reading.temperature_celsius = value;
    }
    const auto reasons_of = f.nvmlDeviceGetCurrentClocksEventReasons != nullptr
                                ? f.nvmlDeviceGetCurrentClocksEventReasons
                                : f.nvmlDeviceGetCurrentClocksThrottleReasons;
    unsigned long long reasons = 0;
    if (reasons_of != nullptr && reasons_of(device, &reasons) == kSuccess) {
        reading.reasons = reasons;
    }
    return reading;
}

Sampler::Sampler(std::shared_ptr<const Nvml> nvml, const std::string& bus_id,
                 std::chrono::milliseconds between)
    : nvml_(std::move(nvml)), device_(nvml_->device(bus_id)), between_(between) {
    thread_ = std::thread([this] { run(); });
}

Sampler::~Sampler() {
    is_stopped_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
}

std::vector<Reading> Sampler::stop() {
    is_stopped_ = true;
    if (thread_.joinable()) {
        thread_.join();
    }
    return readings_;
}

void Sampler::run() {
    do {
        readings_.push_back(nvml_->read(device_));
        std::this_thread::sleep_for(between_);
    } while (!is_stopped_ && readings_.size() < kMostReadings);
}

}  // namespace nsysan::calibrate
