// What a calibration runs on a GPU besides the libraries: nothing here includes anything, so that NVRTC compiles it.

struct alignas(16) Four {
    float x, y, z, w;
};

extern "C" __global__ void empty() {}

extern "C" __global__ void stream_copy(Four* target, const Four* source, unsigned long long count) {
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        target[i] = source[i];
    }
}

extern "C" __global__ void stream_triad(Four* target, const Four* one, const Four* other, unsigned long long count) {
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        const Four a = one[i], b = other[i];
        target[i] = Four{a.x + 3.0f * b.x, a.y + 3.0f * b.y, a.z + 3.0f * b.z, a.w + 3.0f * b.w};
    }
}
