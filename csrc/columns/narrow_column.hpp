#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace nsysan::columns {

/// Integers in as few bytes each as the widest of them needs: 1, 2, 4 or 8, or none at all while
/// they are all the same.
class NarrowColumn {
  public:
    /// Where `is_wide`, every integer takes 8 bytes as soon as two of them differ.
    explicit NarrowColumn(bool is_wide) : is_wide_(is_wide) {}

    /// Adds integers; room for `expected_count` is made at once where there is none.
    void append(const std::int64_t* values, std::size_t count, std::size_t expected_count);
    /// Writes the `count` integers from `begin` on, which must be there.
    void copy_to(std::int64_t* target, std::size_t begin, std::size_t count) const;

    std::size_t count() const { return count_; }
    /// The bytes of each integer; 0 where all are `first`.
    std::size_t width_bytes() const { return width_bytes_; }
    std::int64_t first() const { return first_; }
    /// The integers, which std::free takes back; nothing where all are `first`.
    void* release();

  private:
    struct Free {
        void operator()(void* bytes) const { std::free(bytes); }
    };
    using Bytes = std::unique_ptr<void, Free>;

    std::size_t width_needed(const std::int64_t* values, std::size_t count) const;
    void reserve(std::size_t count, std::size_t expected_count);
    void widen(std::size_t width_bytes, std::size_t capacity);
    void write(const std::int64_t* values, std::size_t count);

    bool is_wide_;
    std::int64_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t width_bytes_ = 0;
    std::size_t capacity_ = 0;
    Bytes bytes_;
};

}  // namespace nsysan::columns
