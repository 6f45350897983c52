#include "device.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace nsysan::calibrate {
namespace {

// CUdevice_attribute
constexpr int kClockKhz = 13;
constexpr int kSmCount = 16;
constexpr int kMemoryClockKhz = 36;
constexpr int kMemoryBusBits = 37;
constexpr int kL2Bytes = 38;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

constexpr int kNotReady = 600;
constexpr int kPeerAlreadyEnabled = 704;
constexpr int kNotSupported = 801;
constexpr unsigned kNonBlocking = 1;
constexpr unsigned kPortableMapped = 1 | 2;
constexpr unsigned kWhenEqual = 1;
constexpr std::uint32_t kOpen = 1;
constexpr double kNsPerMs = 1e6;
constexpr std::chrono::microseconds kBetweenLooks{20};
constexpr std::chrono::seconds kLongestDrain{10};

}  // namespace

Device::Device(std::shared_ptr<const Driver> driver, int index)
    : driver_(std::move(driver)), index_(index) {
    driver_->check(driver_->cuDeviceGet(&handle_, index), "cuDeviceGet");
    void* context = nullptr;
    driver_->check(driver_->cuDevicePrimaryCtxRetain(&context, handle_),
                   "cuDevicePrimaryCtxRetain");
    context_ = Owned(context, [this](void*) { driver_->cuDevicePrimaryCtxRelease_v2(handle_); });
}

DeviceFacts Device::facts() const {
    char name[256] = {};
    char bus_id[32] = {};
    Uuid uuid{};
    DeviceFacts facts{};
    driver_->check(driver_->cuDeviceGetName(name, sizeof name - 1, handle_), "cuDeviceGetName");
    driver_->check(driver_->cuDeviceGetPCIBusId(bus_id, sizeof bus_id - 1, handle_),
                   "cuDeviceGetPCIBusId");
    driver_->check(driver_->cuDeviceGetUuid_v2(&uuid, handle_), "cuDeviceGetUuid");
    driver_->check(driver_->cuDeviceTotalMem_v2(&facts.memory_bytes, handle_), "cuDeviceTotalMem");
    facts.name = name;
    facts.bus_id = bus_id;
    facts.uuid.assign(uuid.bytes.begin(), uuid.bytes.end());
    facts.capability_major = attribute(kCapabilityMajor);
    facts.capability_minor = attribute(kCapabilityMinor);
    facts.sm_count = attribute(kSmCount);
    facts.l2_bytes = attribute(kL2Bytes);
    facts.sm_clock_khz = attribute(kClockKhz);
    facts.memory_clock_khz = attribute(kMemoryClockKhz);
    facts.memory_bus_bits = attribute(kMemoryBusBits);
    return facts;
}

std::size_t Device::free_bytes() const {
    enter();
    std::size_t free = 0;
    std::size_t total = 0;
    driver_->check(driver_->cuMemGetInfo_v2(&free, &total), "cuMemGetInfo");
    return free;
}

void Device::enter() const {
    driver_->check(driver_->cuCtxSetCurrent(context_.get()), "cuCtxSetCurrent");
}

bool Device::reach(const Device& other) const {
    int can = 0;
    driver_->check(driver_->cuDeviceCanAccessPeer(&can, handle_, other.handle_),
                   "cuDeviceCanAccessPeer");
    if (can == 0) {
        return false;
    }
    enter();
    const int code = driver_->cuCtxEnablePeerAccess(other.context_.get(), 0);
    if (code != kPeerAlreadyEnabled) {
        driver_->check(code, "cuCtxEnablePeerAccess");
    }
    return true;
}

int Device::attribute(int number) const {
    int value = 0;
    driver_->check(driver_->cuDeviceGetAttribute(&value, number, handle_), "cuDeviceGetAttribute");
    return value;
}

Buffer::Buffer(std::shared_ptr<const Device> device, std::size_t size_bytes)
    : device_(std::move(device)), size_bytes_(size_bytes) {
    device_->enter();
    const Driver& driver = device_->driver();
    driver.check(driver.cuMemAlloc_v2(&address_, size_bytes), "cuMemAlloc");
}

Buffer::~Buffer() {
    const Driver& driver = device_->driver();
    // what cannot be entered cannot be told either
    try {
        device_->enter();
    } catch (const CallFailed&) {
    }
    driver.cuMemFree_v2(address_);
}

void Buffer::tile(const char* block, std::size_t block_bytes) const {
    if (block_bytes == 0) {
        throw std::invalid_argument("a block of nothing fills no buffer");
    }
    device_->enter();
    const Driver& driver = device_->driver();
    const std::size_t first = std::min(block_bytes, size_bytes_);
    driver.check(driver.cuMemcpyHtoD_v2(address_, block, first), "cuMemcpyHtoD");
    // what is there already is doubled, always by whole blocks
    for (std::size_t done = first; done < size_bytes_;) {
        const std::size_t next = std::min(done, size_bytes_ - done);
        driver.check(driver.cuMemcpyDtoD_v2(address_ + done, address_, next), "cuMemcpyDtoD");
        done += next;
    }
}

void Buffer::fill(unsigned char value) const {
    device_->enter();
    const Driver& driver = device_->driver();
    driver.check(driver.cuMemsetD8_v2(address_, value, size_bytes_), "cuMemsetD8");
}

void Buffer::read(std::size_t offset_bytes, std::size_t size_bytes, char* target) const {
    if (offset_bytes > size_bytes_ || size_bytes > size_bytes_ - offset_bytes) {
        throw std::invalid_argument("more is to be read than the buffer holds");
    }
    device_->enter();
    const Driver& driver = device_->driver();
    driver.check(driver.cuMemcpyDtoH_v2(target, address_ + offset_bytes, size_bytes),
                 "cuMemcpyDtoH");
}

HostBuffer::HostBuffer(std::shared_ptr<const Device> device, std::size_t size_bytes, bool is_pinned)
    : device_(std::move(device)), size_bytes_(size_bytes), is_pinned_(is_pinned) {
    if (!is_pinned) {
        auto* bytes = new unsigned char[size_bytes];
        // every page is there before the first copy
        std::memset(bytes, 1, size_bytes);
        memory_ = Owned(bytes, [](void* memory) { delete[] static_cast<unsigned char*>(memory); });
        return;
    }
    device_->enter();
    const Driver& driver = device_->driver();
    void* memory = nullptr;
    driver.check(driver.cuMemHostAlloc(&memory, size_bytes, kPortableMapped), "cuMemHostAlloc");
    memory_ = Owned(memory, [&driver](void* held) { driver.cuMemFreeHost(held); });
}

Stream::Stream(std::shared_ptr<const Device> device) : device_(std::move(device)) {
    device_->enter();
    const Driver& driver = device_->driver();
    void* stream = nullptr;
    driver.check(driver.cuStreamCreate(&stream, kNonBlocking), "cuStreamCreate");
    handle_ = Owned(stream, [&driver](void* held) { driver.cuStreamDestroy_v2(held); });
}

void Stream::wait(std::chrono::milliseconds limit) const {
    const Driver& driver = device_->driver();
    const auto end = std::chrono::steady_clock::now() + limit;
    for (int code = kNotReady; code == kNotReady;) {
        device_->enter();
        code = driver.cuStreamQuery(get());
        if (code != kNotReady) {
            driver.check(code, "cuStreamQuery");
        } else if (std::chrono::steady_clock::now() > end) {
            throw Stalled("the GPU did not finish within " + std::to_string(limit.count()) + " ms");
        } else {
            std::this_thread::sleep_for(kBetweenLooks);
        }
    }
}

Event::Event(const Device& device) : device_(&device) {
    const Driver& driver = device.driver();
    device.enter();
    void* event = nullptr;
    driver.check(driver.cuEventCreate(&event, 0), "cuEventCreate");
    handle_ = Owned(event, [&driver](void* held) { driver.cuEventDestroy_v2(held); });
}

void Event::record(const Stream& stream) const {
    const Driver& driver = device_->driver();
    driver.check(driver.cuEventRecord(handle_.get(), stream.get()), "cuEventRecord");
}

double Event::since_ns(const Event& begin) const {
    const Driver& driver = device_->driver();
    float milliseconds = 0;
    driver.check(driver.cuEventElapsedTime(&milliseconds, begin.handle_.get(), handle_.get()),
                 "cuEventElapsedTime");
    return milliseconds * kNsPerMs;
}

Gate::Gate(const Stream& stream) : stream_(&stream) {
    const Driver& driver = stream.device().driver();
    stream.device().enter();
    void* memory = nullptr;
    driver.check(driver.cuMemHostAlloc(&memory, sizeof(std::uint32_t), kPortableMapped),
                 "cuMemHostAlloc");
    flag_ = Owned(memory, [&driver](void* held) { driver.cuMemFreeHost(held); });
    std::memset(memory, 0, sizeof(std::uint32_t));
    DevicePointer address = 0;
    driver.check(driver.cuMemHostGetDevicePointer_v2(&address, memory, 0),
                 "cuMemHostGetDevicePointer");
    const int code = driver.cuStreamWaitValue32_v2(stream.get(), address, kOpen, kWhenEqual);
    if (code != kNotSupported) {
        driver.check(code, "cuStreamWaitValue32");
    }
}

Gate::~Gate() {
    open();
    try {
        stream_->wait(kLongestDrain);
    } catch (const std::runtime_error&) {
        // whoever is unwinding has a better reason to tell
    }
}

void Gate::open() {
    if (flag_.get() != nullptr) {
        auto* flag = static_cast<volatile std::uint32_t*>(flag_.get());
        std::atomic_thread_fence(std::memory_order_seq_cst);
        *flag = kOpen;
    }
}

Kernels::Kernels(std::shared_ptr<const Device> device, const std::string& image)
    : device_(std::move(device)) {
    device_->enter();
    const Driver& driver = device_->driver();
    void* loaded = nullptr;
    driver.check(driver.cuModuleLoadData(&loaded, image.data()), "cuModuleLoadData");
    module_ = Owned(loaded, [&driver](void* held) { driver.cuModuleUnload(held); });
}

void* Kernels::function(const std::string& name) const {
    const Driver& driver = device_->driver();
    void* function = nullptr;
    driver.check(driver.cuModuleGetFunction(&function, module_.get(), name.c_str()),
                 "cuModuleGetFunction");
    return function;
}

}  // namespace nsysan::calibrate
