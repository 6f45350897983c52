#include "library.hpp"

#include <dlfcn.h>

#include "owned.hpp"

namespace nsysan::calibrate {
namespace {

constexpr int kSuccess = 0;

}  // namespace

Library::Library(const std::string& path) : path_(path), handle_(dlopen(path.c_str(), RTLD_NOW)) {
    if (handle_ == nullptr) {
        throw MissingLibrary(dlerror());
    }
}

void* Library::symbol(const char* name, bool is_needed) const {
    void* found = dlsym(handle_, name);
    if (found == nullptr && is_needed) {
        throw MissingLibrary(path_ + " has no " + name);
    }
    return found;
}

void fail(const char* call, int code, const char* text) {
    const std::string what = text == nullptr ? "no explanation" : text;
    throw CallFailed(std::string(call) + " failed with " + std::to_string(code) + ": " + what);
}

#define NSYSAN_RESOLVE(name, type) name = library.function<type>(#name);
#define NSYSAN_RESOLVE_OPTIONAL(name, type) name = library.optional_function<type>(#name);

Driver::Driver(const std::string& path) {
    const Library library(path);
    NSYSAN_DRIVER_FUNCTIONS(NSYSAN_RESOLVE)
    check(cuInit(0), "cuInit");
}

void Driver::check(int code, const char* call) const {
    if (code != kSuccess) {
        const char* text = nullptr;
        cuGetErrorString(code, &text);
        fail(call, code, text);
    }
}

int Driver::version() const {
    int version = 0;
    check(cuDriverGetVersion(&version), "cuDriverGetVersion");
    return version;
}

int Driver::device_count() const {
    int count = 0;
    check(cuDeviceGetCount(&count), "cuDeviceGetCount");
    return count;
}

CublasLt::CublasLt(const std::string& path) {
    const Library library(path);
    NSYSAN_CUBLASLT_FUNCTIONS(NSYSAN_RESOLVE)
}

void CublasLt::check(int code, const char* call) const {
    if (code != kSuccess) {
        fail(call, code, cublasLtGetStatusString(code));
    }
}

Nccl::Nccl(const std::string& path) {
    const Library library(path);
    NSYSAN_NCCL_FUNCTIONS(NSYSAN_RESOLVE)
}

void Nccl::check(int code, const char* call) const {
    if (code != kSuccess) {
        fail(call, code, ncclGetErrorString(code));
    }
}

int Nccl::version() const {
    int version = 0;
    check(ncclGetVersion(&version), "ncclGetVersion");
    return version;
}

UniqueId Nccl::unique_id() const {
    UniqueId id{};
    check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    return id;
}

Nvrtc::Nvrtc(const std::string& path) {
    const Library library(path);
    NSYSAN_NVRTC_FUNCTIONS(NSYSAN_RESOLVE)
}

void Nvrtc::check(int code, const char* call) const {
    if (code != kSuccess) {
        fail(call, code, nvrtcGetErrorString(code));
    }
}

std::string Nvrtc::version() const {
    int major = 0;
    int minor = 0;
    check(nvrtcVersion(&major, &minor), "nvrtcVersion");
    return std::to_string(major) + "." + std::to_string(minor);
}

std::string Nvrtc::compile(const std::string& source, const std::string& architecture) const {
    void* created = nullptr;
    check(nvrtcCreateProgram(&created, source.c_str(), "kernels.cu", 0, nullptr, nullptr),
          "nvrtcCreateProgram");
    const Owned program(created, [this](void* handle) { nvrtcDestroyProgram(&handle); });
    const std::string option = "--gpu-architecture=" + architecture;
    const char* options[] = {option.c_str()};
    if (const int code = nvrtcCompileProgram(program.get(), 1, options); code != kSuccess) {
        std::size_t size = 0;
        check(nvrtcGetProgramLogSize(program.get(), &size), "nvrtcGetProgramLogSize");
        std::string log(size, '\0');
        check(nvrtcGetProgramLog(program.get(), log.data()), "nvrtcGetProgramLog");
        fail("nvrtcCompileProgram", code, log.c_str());
    }
    std::size_t size = 0;
    check(nvrtcGetCUBINSize(program.get(), &size), "nvrtcGetCUBINSize");
    std::string code(size, '\0');
    check(nvrtcGetCUBIN(program.get(), code.data()), "nvrtcGetCUBIN");
    return code;
}

NvmlFunctions::NvmlFunctions(const std::string& path) {
    const Library library(path);
    NSYSAN_NVML_FUNCTIONS(NSYSAN_RESOLVE)
    NSYSAN_NVML_OPTIONAL_FUNCTIONS(NSYSAN_RESOLVE_OPTIONAL)
}

void NvmlFunctions::check(int code, const char* call) const {
    if (code != kSuccess) {
        fail(call, code, nvmlErrorString(code));
    }
}

}  // namespace nsysan::calibrate
