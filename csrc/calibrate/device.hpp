/// A GPU and what lives on it; everything here gives back what it holds when it goes.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "library.hpp"
#include "owned.hpp"

namespace nsysan::calibrate {

/// What the driver tells of a GPU.
struct DeviceFacts {
    std::string name;
    std::string uuid;
    std::string bus_id;
    int capability_major;
    int capability_minor;
    int sm_count;
    std::size_t memory_bytes;
    int l2_bytes;
    int sm_clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;
};

/// A GPU with its primary context, which libraries share.
class Device : public std::enable_shared_from_this<Device> {
  public:
    Device(std::shared_ptr<const Driver> driver, int index);

    const Driver& driver() const { return *driver_; }
    int index() const { return index_; }
    DeviceFacts facts() const;
    std::size_t free_bytes() const;

    /// Makes this GPU the one that the thread's calls are about; others may have changed that.
    void enter() const;
    /// Lets this GPU reach the memory of the other one; false where it cannot.
    bool reach(const Device& other) const;

  private:
    int attribute(int number) const;

    std::shared_ptr<const Driver> driver_;
    int index_;
    int handle_ = 0;
    Owned context_;
};

/// Memory of a GPU.
class Buffer {
  public:
    Buffer(std::shared_ptr<const Device> device, std::size_t size_bytes);
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer();

    const Device& device() const { return *device_; }
    DevicePointer address() const { return address_; }
    std::size_t size_bytes() const { return size_bytes_; }

    /// Fills the buffer with the block, again and again.
    void tile(const char* block, std::size_t block_bytes) const;
    void fill(unsigned char value) const;
    void read(std::size_t offset_bytes, std::size_t size_bytes, char* target) const;

  private:
    std::shared_ptr<const Device> device_;
    std::size_t size_bytes_;
    DevicePointer address_ = 0;
};

/// Memory of the host: pinned, which a GPU reads by itself, or as any other.
class HostBuffer {
  public:
    HostBuffer(std::shared_ptr<const Device> device, std::size_t size_bytes, bool is_pinned);

    DevicePointer address() const { return reinterpret_cast<DevicePointer>(memory_.get()); }
    std::size_t size_bytes() const { return size_bytes_; }
    bool is_pinned() const { return is_pinned_; }

  private:
    std::shared_ptr<const Device> device_;
    std::size_t size_bytes_;
    bool is_pinned_;
    Owned memory_;
};

/// A queue of work.
class Stream {
  public:
    explicit Stream(std::shared_ptr<const Device> device);

    const Device& device() const { return *device_; }
    void* get() const { return handle_.get(); }
    /// Waits until all that was queued is done; throws `Stalled` after the limit.
    void wait(std::chrono::milliseconds limit) const;

  private:
    std::shared_ptr<const Device> device_;
    Owned handle_;
};

/// A moment on a stream.
class Event {
  public:
    explicit Event(const Device& device);

    void record(const Stream& stream) const;
    /// Nanoseconds from the other moment to this one; both must have passed.
    double since_ns(const Event& begin) const;

  private:
    const Device* device_;
    Owned handle_;
};

/// Holds a stream until it is let go, so that all is queued before the first piece of it runs.
///
/// Goes without where the driver cannot. The destructor lets the stream go whatever happens, and
/// waits until nothing looks at the flag any more.
class Gate {
  public:
    explicit Gate(const Stream& stream);
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    ~Gate();

    void open();

  private:
    const Stream* stream_;
    Owned flag_;
};

/// Machine code on a GPU.
class Kernels {
  public:
    Kernels(std::shared_ptr<const Device> device, const std::string& image);

    const std::shared_ptr<const Device>& device() const { return device_; }
    void* function(const std::string& name) const;

  private:
    std::shared_ptr<const Device> device_;
    Owned module_;
};

}  // namespace nsysan::calibrate
