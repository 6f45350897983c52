/// libcuda and NVRTC as a calibration sees them; work takes the programmed time on a virtual clock.

#include <cstdio>
#include <cstring>

#include "../../../csrc/calibrate/abi.hpp"
#include "state.hpp"

using namespace nsysan::calibrate;
using fake::at;
using fake::drop;
using fake::fails;
using fake::make;

namespace {

constexpr int kUnknown = 999;
constexpr int kNotReady = 600;

void* pointer(DevicePointer address) { return reinterpret_cast<void*>(address); }

int worked(const char* call, void* stream) {
    if (fails(call)) {
        return kUnknown;
    }
    if (!at(stream).numbers.empty()) {  // a stream that captures: the kernel becomes a node
        at(stream).numbers.push_back(1);
        return 0;
    }
    at(stream).clock_ns += fake::next_time_ns();
    return 0;
}

int made(const char* call, void** target, const char* kind) {
    if (fails(call)) {
        return kUnknown;
    }
    *target = make(kind);
    return 0;
}

int dropped(const char* call, void* thing, const char* kind) {
    fails(call);
    drop(thing, kind);
    return 0;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return fails("cuInit") ? kUnknown : 0; }
int cuDriverGetVersion(int* version) {
    *version = 13000;
    return 0;
}
int cuGetErrorString(int, const char** text) {
    *text = "made to fail";
    return 0;
}
int cuDeviceGetCount(int* count) {
    *count = fake::state().device_count;
    return fails("cuDeviceGetCount") ? kUnknown : 0;
}
int cuDeviceGet(int* device, int index) {
    *device = index;
    return fails("cuDeviceGet") ? kUnknown : 0;
}
int cuDeviceGetName(char* name, int size, int) {
    std::strncpy(name, "NVIDIA H100 80GB HBM3", static_cast<std::size_t>(size));
    return fails("cuDeviceGetName") ? kUnknown : 0;
}
int cuDeviceGetUuid_v2(Uuid* uuid, int device) {
    uuid->bytes.fill(static_cast<unsigned char>(device + fake::state().first_uuid));
    return fails("cuDeviceGetUuid") ? kUnknown : 0;
}
int cuDeviceTotalMem_v2(std::size_t* size, int) {
    *size = 85'000'000'000;
    return fails("cuDeviceTotalMem") ? kUnknown : 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
    switch (attribute) {
        case 13:
            *value = 1'980'000;
            break;
        case 16:
            *value = 132;
            break;
        case 36:
            *value = 2'619'000;
            break;
        case 37:
            *value = 5120;
            break;
        case 38:
            *value = 4096;  // a cache so small that tests need little memory
            break;
        case 75:
            *value = 9;
            break;
        default:
            *value = 0;
    }
    return fails("cuDeviceGetAttribute") ? kUnknown : 0;
}
int cuDeviceGetPCIBusId(char* id, int size, int device) {
    std::snprintf(id, static_cast<std::size_t>(size), "0000:%02x:00.0", device + 1);
    return fails("cuDeviceGetPCIBusId") ? kUnknown : 0;
}
int cuDeviceCanAccessPeer(int* can, int, int) {
    *can = 1;
    return fails("cuDeviceCanAccessPeer") ? kUnknown : 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
    const int code = made("cuDevicePrimaryCtxRetain", context, "context");
    if (code == 0) {
        at(*context).numbers = {device};
    }
    return code;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
    fails("cuDevicePrimaryCtxRelease");
    for (const auto& [handle, thing] : fake::state().alive) {
        if (thing->kind == "context" && thing->numbers[0] == device) {
            drop(handle, "context");
            return 0;
        }
    }
    return kUnknown;
}
int cuCtxSetCurrent(void* context) {
    at(context);
    return fails("cuCtxSetCurrent") ? kUnknown : 0;
}
int cuCtxEnablePeerAccess(void*, unsigned) { return fails("cuCtxEnablePeerAccess") ? kUnknown : 0; }
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    *free = 64 << 20;
    *total = 85'000'000'000;
    return fails("cuMemGetInfo") ? kUnknown : 0;
}
int cuMemAlloc_v2(DevicePointer* address, std::size_t size) {
    if (fails("cuMemAlloc")) {
        return kUnknown;
    }
    *address = reinterpret_cast<DevicePointer>(make("buffer", size));
    return 0;
}
int cuMemFree_v2(DevicePointer address) { return dropped("cuMemFree", pointer(address), "buffer"); }
int cuMemHostAlloc(void** memory, std::size_t size, unsigned) {
    if (fails("cuMemHostAlloc")) {
        return kUnknown;
    }
    *memory = make("host", size);
    return 0;
}
int cuMemFreeHost(void* memory) { return dropped("cuMemFreeHost", memory, "host"); }
int cuMemHostGetDevicePointer_v2(DevicePointer* address, void* memory, unsigned) {
    *address = reinterpret_cast<DevicePointer>(memory);
    return fails("cuMemHostGetDevicePointer") ? kUnknown : 0;
}
int cuMemcpyHtoD_v2(DevicePointer target, const void* source, std::size_t size) {
    if (fails("cuMemcpyHtoD")) {
        return kUnknown;
    }
    std::memcpy(pointer(target), source, size);
    return 0;
}
int cuMemcpyDtoH_v2(void* target, DevicePointer source, std::size_t size) {
    if (fails("cuMemcpyDtoH")) {
        return kUnknown;
    }
    std::memcpy(target, pointer(source), size);
    return 0;
}
int cuMemcpyDtoD_v2(DevicePointer target, DevicePointer source, std::size_t size) {
    if (fails("cuMemcpyDtoD")) {
        return kUnknown;
    }
    std::memcpy(pointer(target), pointer(source), size);
    return 0;
}
int cuMemcpyAsync(DevicePointer target, DevicePointer source, std::size_t size, void* stream) {
    const int code = worked("cuMemcpyAsync", stream);
    if (code == 0) {
        std::memcpy(pointer(target), pointer(source), size);
    }
    return code;
}
int cuMemsetD8_v2(DevicePointer address, unsigned char value, std::size_t size) {
    if (fails("cuMemsetD8")) {
        return kUnknown;
    }
    std::memset(pointer(address), value, size);
    return 0;
}
int cuStreamCreate(void** stream, unsigned) { return made("cuStreamCreate", stream, "stream"); }
int cuStreamDestroy_v2(void* stream) { return dropped("cuStreamDestroy", stream, "stream"); }
int cuStreamQuery(void* stream) {
    const fake::Thing& thing = at(stream);
    if (fake::state().hangs || (thing.gate != nullptr && *thing.gate != thing.gate_value)) {
        return kNotReady;
    }
    at(stream).gate = nullptr;
    return fails("cuStreamQuery") ? kUnknown : 0;
}
int cuStreamWaitValue32_v2(void* stream, DevicePointer address, std::uint32_t value, unsigned) {
    if (fails("cuStreamWaitValue32")) {
        return kUnknown;
    }
    if (fake::state().lacks_gates) {
        return 801;
    }
    at(stream).gate = static_cast<const volatile unsigned*>(pointer(address));
    at(stream).gate_value = value;
    return 0;
}
int cuStreamBeginCapture_v2(void* stream, int) {
    if (fails("cuStreamBeginCapture")) {
        return kUnknown;
    }
    at(stream).numbers = {0};
    return 0;
}
int cuStreamEndCapture(void* stream, void** graph) {
    const long long nodes = static_cast<long long>(at(stream).numbers.size()) - 1;
    at(stream).numbers.clear();
    const int code = made("cuStreamEndCapture", graph, "graph");
    if (code == 0) {
        at(*graph).numbers = {nodes};
    }
    return code;
}
int cuGraphInstantiateWithFlags(void** ready, void* graph, unsigned long long) {
    const int code = made("cuGraphInstantiate", ready, "executable");
    if (code == 0) {
        at(*ready).numbers = at(graph).numbers;
    }
    return code;
}
int cuGraphLaunch(void* ready, void* stream) {
    if (fails("cuGraphLaunch")) {
        return kUnknown;
    }
    for (long long node = 0; node < at(ready).numbers[0]; ++node) {
        at(stream).clock_ns += fake::next_time_ns();
    }
    return 0;
}
int cuGraphExecDestroy(void* ready) { return dropped("cuGraphExecDestroy", ready, "executable"); }
int cuGraphDestroy(void* graph) { return dropped("cuGraphDestroy", graph, "graph"); }
int cuEventCreate(void** event, unsigned) { return made("cuEventCreate", event, "event"); }
int cuEventDestroy_v2(void* event) { return dropped("cuEventDestroy", event, "event"); }
int cuEventRecord(void* event, void* stream) {
    if (fails("cuEventRecord")) {
        return kUnknown;
    }
    at(event).clock_ns = at(stream).clock_ns;
    return 0;
}
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
    *milliseconds = static_cast<float>((at(end).clock_ns - at(begin).clock_ns) / 1e6);
    return fails("cuEventElapsedTime") ? kUnknown : 0;
}
int cuModuleLoadData(void** loaded, const void*) {
    return made("cuModuleLoadData", loaded, "module");
}
int cuModuleUnload(void* loaded) { return dropped("cuModuleUnload", loaded, "module"); }
int cuModuleGetFunction(void** function, void* loaded, const char*) {
    *function = loaded;
    return fails("cuModuleGetFunction") ? kUnknown : 0;
}
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void* stream, void**, void**) {
    return worked("cuLaunchKernel", stream);
}

int nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return fails("nvrtcVersion") ? 6 : 0;
}
const char* nvrtcGetErrorString(int) { return "made to fail"; }
int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
    if (fails("nvrtcCreateProgram")) {
        return 6;
    }
    *program = make("program");
    at(*program).bytes.assign(source, source + std::strlen(source));
    return 0;
}
int nvrtcDestroyProgram(void** program) {
    return dropped("nvrtcDestroyProgram", *program, "program");
}
int nvrtcCompileProgram(void*, int, const char* const*) {
    return fails("nvrtcCompileProgram") ? 6 : 0;
}
int nvrtcGetCUBINSize(void* program, std::size_t* size) {
    *size = at(program).bytes.size();
    return fails("nvrtcGetCUBINSize") ? 6 : 0;
}
int nvrtcGetCUBIN(void* program, char* code) {
    std::memcpy(code, at(program).bytes.data(), at(program).bytes.size());
    return fails("nvrtcGetCUBIN") ? 6 : 0;
}
int nvrtcGetProgramLogSize(void*, std::size_t* size) {
    *size = 9;
    return fails("nvrtcGetProgramLogSize") ? 6 : 0;
}
int nvrtcGetProgramLog(void*, char* log) {
    std::memcpy(log, "line 1: ?", 9);
    return fails("nvrtcGetProgramLog") ? 6 : 0;
}
}
