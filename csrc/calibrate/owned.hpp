/// A handle of a library that is given back when its owner goes.

#pragma once

#include <functional>
#include <utility>

namespace nsysan::calibrate {

/// Owns a handle; what gives it back is not asked how that went, for nothing can be done about it.
class Owned {
  public:
    Owned() = default;
    Owned(void* handle, std::function<void(void*)> release)
        : handle_(handle), release_(std::move(release)) {}
    Owned(Owned&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), release_(std::move(other.release_)) {}
    Owned& operator=(Owned&& other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(release_, other.release_);
        return *this;
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() {
        if (handle_ != nullptr) {
            release_(handle_);
        }
    }

    void* get() const { return handle_; }
    /// The handle, which is somebody else's to give back from now on.
    void* disown() { return std::exchange(handle_, nullptr); }

  private:
    void* handle_ = nullptr;
    std::function<void(void*)> release_;
};

}  // namespace nsysan::calibrate
