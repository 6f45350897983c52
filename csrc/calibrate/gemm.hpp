/// Matrix products through cuBLASLt.

#pragma once

#include <vector>

#include "timing.hpp"

namespace nsysan::calibrate {

/// D = op(A) op(B), m x n, in BLAS' column order; data and compute types are numbers of cuBLASLt.
struct Product {
    std::uint64_t m;
    std::uint64_t n;
    std::uint64_t k;
    bool a_is_transposed;
    bool b_is_transposed;
    int factor_type;
    int result_type;
    int compute_type;
    int scale_type;
    /// How blocks of the factors are scaled, 0 where one number scales each; null scales where none
    /// is needed.
    int scale_mode;
    std::shared_ptr<const Buffer> a_scale;
    std::shared_ptr<const Buffer> b_scale;
    bool accumulates_fast;
};

/// The memory of one product.
struct Operands {
    std::shared_ptr<const Buffer> a;
    std::shared_ptr<const Buffer> b;
    std::shared_ptr<const Buffer> d;
};

/// A product and the algorithms that cuBLASLt proposes for it.
class Gemm {
  public:
    Gemm(std::shared_ptr<const Device> device, std::shared_ptr<const CublasLt> library,
         const Product& product, std::size_t workspace_bytes, int algorithm_count);

    /// How many algorithms there are; none where the GPU cannot do this product.
    int algorithm_count() const { return static_cast<int>(proposals_.size()); }

    /// Launches take turns among the operands, so that a cache holds none of them.
    std::vector<double> time(int algorithm, const std::vector<Operands>& operands,
                             const Batch& batch) const;

  private:
    void check(const Operands& operands) const;
    void multiply(const Stream& stream, int algorithm, const Operands& operands) const;
    template <typename Value>
    void set(int attribute, const Value& value) const;

    std::shared_ptr<const Device> device_;
    std::shared_ptr<const CublasLt> library_;
    Product product_;
    std::unique_ptr<const Buffer> workspace_;
    Owned handle_;
    Owned description_;
    Owned a_layout_;
    Owned b_layout_;
    Owned d_layout_;
    std::vector<GemmProposal> proposals_;
};

}  // namespace nsysan::calibrate
