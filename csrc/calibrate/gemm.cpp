#include "gemm.hpp"

#include <stdexcept>

namespace nsysan::calibrate {
namespace {

// cublasLtMatmulDescAttributes_t
constexpr int kTransA = 3;
constexpr int kTransB = 4;
constexpr int kScaleOfA = 17;
constexpr int kScaleOfB = 18;
constexpr int kFastAccumulation = 25;
constexpr int kScaleModeOfA = 31;
constexpr int kScaleModeOfB = 32;
// cublasLtMatmulPreferenceAttributes_t
constexpr int kMostWorkspace = 1;
constexpr int kMostAlgorithms = 64;
// cudaDataType
constexpr int kDouble = 1;
constexpr int kInt32 = 10;
constexpr int kFp4 = 33;

/// How many elements of the factors' type two bytes hold.
std::uint64_t elements_of_two_bytes(int type) {
    switch (type) {
        case kFp4:
            return 4;
        case 3:   // int8
        case 28:  // e4m3
        case 29:  // e5m2
            return 2;
        default:
            return 1;
    }
}

std::uint64_t bytes_of(std::uint64_t count, int type) {
    switch (type) {
        case 1:  // fp64
            return count * 8;
        case 0:  // fp32
        case kInt32:
            return count * 4;
        default:
            return (count * 2 + elements_of_two_bytes(type) - 1) / elements_of_two_bytes(type);
    }
}

/// One and zero, in the type that scales a product.
struct Scales {
    double one_double = 1;
    double zero_double = 0;
    float one_float = 1;
    float zero_float = 0;
    std::int32_t one_int = 1;
    std::int32_t zero_int = 0;

    const void* one(int type) const {
        return type == kDouble  ? static_cast<const void*>(&one_double)
               : type == kInt32 ? static_cast<const void*>(&one_int)
                                : static_cast<const void*>(&one_float);
    }
    const void* zero(int type) const {
        return type == kDouble  ? static_cast<const void*>(&zero_double)
               : type == kInt32 ? static_cast<const void*>(&zero_int)
                                : static_cast<const void*>(&zero_float);
    }
};

Owned layout(const CublasLt& library, int type, std::uint64_t rows, std::uint64_t columns) {
    void* created = nullptr;
    library.check(library.cublasLtMatrixLayoutCreate(&created, type, rows, columns,
                                                     static_cast<std::int64_t>(rows)),
                  "cublasLtMatrixLayoutCreate");
    return {created, [&library](void* held) { library.cublasLtMatrixLayoutDestroy(held); }};
}

}  // namespace

Gemm::Gemm(std::shared_ptr<const Device> device, std::shared_ptr<const CublasLt> library,
           const Product& product, std::size_t workspace_bytes, int algorithm_count)
    : device_(std::move(device)), library_(std::move(library)), product_(product) {
    if (algorithm_count < 1 || algorithm_count > kMostAlgorithms || product.m == 0 ||
        product.n == 0 || product.k == 0) {
        throw std::invalid_argument("a product has sides, and between 1 and 64 algorithms");
    }
    device_->enter();
    const CublasLt& lt = *library_;
    void* created = nullptr;
    lt.check(lt.cublasLtCreate(&created), "cublasLtCreate");
    handle_ = Owned(created, [&lt](void* held) { lt.cublasLtDestroy(held); });
    lt.check(lt.cublasLtMatmulDescCreate(&created, product.compute_type, product.scale_type),
             "cublasLtMatmulDescCreate");
    description_ = Owned(created, [&lt](void* held) { lt.cublasLtMatmulDescDestroy(held); });
    set(kTransA, static_cast<std::int32_t>(product.a_is_transposed));
    set(kTransB, static_cast<std::int32_t>(product.b_is_transposed));
    if (product.accumulates_fast) {
        set(kFastAccumulation, static_cast<std::int8_t>(1));
    }
    if (product.scale_mode != 0) {
        set(kScaleModeOfA, static_cast<std::int32_t>(product.scale_mode));
        set(kScaleModeOfB, static_cast<std::int32_t>(product.scale_mode));
    }
    if (product.a_scale != nullptr && product.b_scale != nullptr) {
        set(kScaleOfA, product.a_scale->address());
        set(kScaleOfB, product.b_scale->address());
    }
    a_layout_ = product.a_is_transposed ? layout(lt, product.factor_type, product.k, product.m)
                                        : layout(lt, product.factor_type, product.m, product.k);
    b_layout_ = product.b_is_transposed ? layout(lt, product.factor_type, product.n, product.k)
                                        : layout(lt, product.factor_type, product.k, product.n);
    d_layout_ = layout(lt, product.result_type, product.m, product.n);
    workspace_ = std::make_unique<const Buffer>(device_, workspace_bytes);
    lt.check(lt.cublasLtMatmulPreferenceCreate(&created), "cublasLtMatmulPreferenceCreate");
    const Owned preference(created,
                           [&lt](void* held) { lt.cublasLtMatmulPreferenceDestroy(held); });
    lt.check(lt.cublasLtMatmulPreferenceSetAttribute(preference.get(), kMostWorkspace,
                                                     &workspace_bytes, sizeof workspace_bytes),
             "cublasLtMatmulPreferenceSetAttribute");
    proposals_.resize(static_cast<std::size_t>(algorithm_count));
    int found = 0;
    // a product that the GPU cannot do is no failure: it has no algorithms
    const int code = lt.cublasLtMatmulAlgoGetHeuristic(
        handle_.get(), description_.get(), a_layout_.get(), b_layout_.get(), d_layout_.get(),
        d_layout_.get(), preference.get(), algorithm_count, proposals_.data(), &found);
    constexpr int kNotSupported = 15;
    constexpr int kInvalidValue = 7;
    if (code != kNotSupported && code != kInvalidValue) {
        lt.check(code, "cublasLtMatmulAlgoGetHeuristic");
    }
    proposals_.resize(code == 0 && found > 0 ? static_cast<std::size_t>(found) : 0);
}

template <typename Value>
void Gemm::set(int attribute, const Value& value) const {
    library_->check(library_->cublasLtMatmulDescSetAttribute(description_.get(), attribute, &value,
                                                             sizeof value),
                    "cublasLtMatmulDescSetAttribute");
}

std::vector<double> Gemm::time(int algorithm, const std::vector<Operands>& operands,
                               const Batch& batch) const {
    if (algorithm < 0 || algorithm >= algorithm_count() || operands.empty()) {
        throw std::invalid_argument("there is no such algorithm, or nothing to multiply");
    }
    for (const Operands& each : operands) {
        check(each);
    }
    const Stream stream(device_);
    return time_on_stream(stream, batch, [&](int number) {
        multiply(stream, algorithm, operands[static_cast<std::size_t>(number) % operands.size()]);
    });
}

void Gemm::check(const Operands& operands) const {
    const Product& p = product_;
    if (operands.a->size_bytes() < bytes_of(p.m * p.k, p.factor_type) ||
        operands.b->size_bytes() < bytes_of(p.k * p.n, p.factor_type) ||
        operands.d->size_bytes() < bytes_of(p.m * p.n, p.result_type)) {
        throw std::invalid_argument("a matrix is larger than its buffer");
    }
}

void Gemm::multiply(const Stream& stream, int algorithm, const Operands& operands) const {
    const Scales scales;
    const auto at = [](const std::shared_ptr<const Buffer>& buffer) {
        return reinterpret_cast<void*>(buffer->address());
    };
    const GemmProposal& proposal = proposals_[static_cast<std::size_t>(algorithm)];
    library_->check(
        library_->cublasLtMatmul(
            handle_.get(), description_.get(), scales.one(product_.scale_type), at(operands.a),
            a_layout_.get(), at(operands.b), b_layout_.get(), scales.zero(product_.scale_type),
            at(operands.d), d_layout_.get(), at(operands.d), d_layout_.get(), &proposal.algorithm,
            reinterpret_cast<void*>(workspace_->address()), workspace_->size_bytes(), stream.get()),
        "cublasLtMatmul");
}

}  // namespace nsysan::calibrate
