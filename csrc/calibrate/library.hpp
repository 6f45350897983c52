/// Libraries that are opened at run time, and what goes wrong with them.

#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

#include "abi.hpp"

namespace nsysan::calibrate {

/// A library, or a function of it, is not there.
struct MissingLibrary : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A call of a library failed: which, with which code, and what the library says about it.
struct CallFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A wait for the GPU took longer than it may.
struct Stalled : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A shared library that stays open until the process ends: NVIDIA's have threads of their own.
class Library {
  public:
    explicit Library(const std::string& path);

    /// A function of the library; throws `MissingLibrary` where it has none of that name.
    template <typename Function>
    Function* function(const char* name) const {
        return reinterpret_cast<Function*>(symbol(name, true));
    }

    /// The same, null where there is none.
    template <typename Function>
    Function* optional_function(const char* name) const {
        return reinterpret_cast<Function*>(symbol(name, false));
    }

    const std::string& path() const { return path_; }

  private:
    void* symbol(const char* name, bool is_needed) const;

    std::string path_;
    void* handle_;
};

/// Throws `CallFailed` about a call that returned this code.
[[noreturn]] void fail(const char* call, int code, const char* text);

#define NSYSAN_MEMBER(name, type) std::add_pointer_t<type> name = nullptr;

/// The CUDA driver.
struct Driver {
    explicit Driver(const std::string& path);
    NSYSAN_DRIVER_FUNCTIONS(NSYSAN_MEMBER)
    void check(int code, const char* call) const;
    int version() const;
    int device_count() const;
};

struct CublasLt {
    explicit CublasLt(const std::string& path);
    NSYSAN_CUBLASLT_FUNCTIONS(NSYSAN_MEMBER)
    void check(int code, const char* call) const;
};

struct Nccl {
    explicit Nccl(const std::string& path);
    NSYSAN_NCCL_FUNCTIONS(NSYSAN_MEMBER)
    void check(int code, const char* call) const;
    int version() const;
    UniqueId unique_id() const;
};

struct Nvrtc {
    explicit Nvrtc(const std::string& path);
    NSYSAN_NVRTC_FUNCTIONS(NSYSAN_MEMBER)
    void check(int code, const char* call) const;
    std::string version() const;
    /// The machine code of a source for an architecture such as `sm_90`.
    std::string compile(const std::string& source, const std::string& architecture) const;
};

struct NvmlFunctions {
    explicit NvmlFunctions(const std::string& path);
    NSYSAN_NVML_FUNCTIONS(NSYSAN_MEMBER)
    NSYSAN_NVML_OPTIONAL_FUNCTIONS(NSYSAN_MEMBER)
    void check(int code, const char* call) const;
};

#undef NSYSAN_MEMBER

}  // namespace nsysan::calibrate
