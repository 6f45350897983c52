#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

namespace nsysan::columns {

/// Integers whose count is not known before. Unlike std::vector it touches no memory before a value
/// is written, and leaves it to realloc to move pages instead of values.
class GrowingColumn {
  public:
    std::int64_t* data() { return values_.get(); }

    void reserve(std::size_t count) {
        if (count > reserved_) {
            resize(count + reserved_ / 2);
        }
    }

    /// The first `count` values, which std::free takes back.
    std::int64_t* release(std::size_t count) {
        resize(count);
        return values_.release();
    }

  private:
    struct Free {
        void operator()(std::int64_t* values) const { std::free(values); }
    };

    void resize(std::size_t count) {
        if (count > SIZE_MAX / 2 / sizeof(std::int64_t)) {
            throw std::length_error("too many rows");
        }
        // never of no bytes, for then realloc may answer nothing
        void* resized = std::realloc(values_.get(), (count + 1) * sizeof(std::int64_t));
        if (resized == nullptr) {
            throw std::bad_alloc();
        }
        static_cast<void>(values_.release());
        values_.reset(static_cast<std::int64_t*>(resized));
        reserved_ = count;
    }

    std::unique_ptr<std::int64_t, Free> values_;
    std::size_t reserved_ = 0;
};

}  // namespace nsysan::columns
