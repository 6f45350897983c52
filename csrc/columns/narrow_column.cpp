#include "narrow_column.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

namespace nsysan::columns {

namespace {

/// What is expected may be wrong, and no more than this many times what is there is reserved for
/// it.
constexpr std::size_t kMaxGrowth = 8;

std::size_t room_for(std::size_t count, std::size_t expected_count) {
    return std::max(count + count / 2, std::min(expected_count, kMaxGrowth * count));
}

void* allocated(void* bytes, std::size_t count, std::size_t width_bytes) {
    if (count > SIZE_MAX / 2 / width_bytes) {
        throw std::length_error("too many rows");
    }
    // never of no bytes, for then realloc may answer nothing
    void* made = std::realloc(bytes, (count + 1) * width_bytes);
    if (made == nullptr) {
        throw std::bad_alloc();
    }
    return made;
}

/// Calls `use` with a number of the type that has so many bytes.
template <typename Use>
void with_type(std::size_t width_bytes, Use use) {
    switch (width_bytes) {
        case 1:
            return use(std::int8_t{});
        case 2:
            return use(std::int16_t{});
        case 4:
            return use(std::int32_t{});
        default:
            return use(std::int64_t{});
    }
}

}  // namespace

void NarrowColumn::append(const std::int64_t* values, std::size_t count,
                          std::size_t expected_count) {
    if (count == 0) {
        return;
    }
    first_ = count_ == 0 ? *values : first_;
    const std::size_t width_bytes = width_needed(values, count);
    if (width_bytes > width_bytes_) {
        widen(width_bytes, room_for(count_ + count, expected_count));
    }
    if (width_bytes_ != 0) {
        reserve(count_ + count, expected_count);
        write(values, count);
    }
    count_ += count;
}

std::size_t NarrowColumn::width_needed(const std::int64_t* values, std::size_t count) const {
    std::uint64_t differing = 0;
    // of a negative number the bits that are 0: both kinds of number have the bits of a positive
    // one
    std::uint64_t used = static_cast<std::uint64_t>(first_ ^ first_ >> 63);
    for (std::size_t row = 0; row < count; ++row) {
        differing |= static_cast<std::uint64_t>(values[row] ^ first_);
        used |= static_cast<std::uint64_t>(values[row] ^ values[row] >> 63);
    }
    if (differing == 0) {
        return 0;
    }
    if (is_wide_ || used > INT32_MAX) {
        return 8;
    }
    return used <= INT8_MAX ? 1 : used <= INT16_MAX ? 2 : 4;
}

void NarrowColumn::reserve(std::size_t count, std::size_t expected_count) {
    if (count <= capacity_) {
        return;
    }
    const std::size_t capacity = room_for(count, expected_count);
    void* grown = allocated(bytes_.get(), capacity, width_bytes_);
    static_cast<void>(bytes_.release());
    bytes_.reset(grown);
    capacity_ = capacity;
}

void NarrowColumn::widen(std::size_t width_bytes, std::size_t capacity) {
    Bytes wider(allocated(nullptr, capacity, width_bytes));
    with_type(width_bytes, [&](auto to) {
        auto* target = static_cast<decltype(to)*>(wider.get());
        if (width_bytes_ == 0) {
            std::fill(target, target + count_, static_cast<decltype(to)>(first_));
            return;
        }
        with_type(width_bytes_, [&](auto from) {
            const auto* source = static_cast<const decltype(from)*>(bytes_.get());
            std::transform(source, source + count_, target,
                           [](auto value) { return static_cast<decltype(to)>(value); });
        });
    });
    bytes_ = std::move(wider);
    width_bytes_ = width_bytes;
    capacity_ = capacity;
}

void NarrowColumn::write(const std::int64_t* values, std::size_t count) {
    with_type(width_bytes_, [&](auto type) {
        auto* target = static_cast<decltype(type)*>(bytes_.get()) + count_;
        for (std::size_t row = 0; row < count; ++row) {
            target[row] = static_cast<decltype(type)>(values[row]);
        }
    });
}

void NarrowColumn::copy_to(std::int64_t* target, std::size_t begin, std::size_t count) const {
    if (width_bytes_ == 0) {
        std::fill(target, target + count, first_);
        return;
    }
    with_type(width_bytes_, [&](auto type) {
        const auto* source = static_cast<const decltype(type)*>(bytes_.get()) + begin;
        std::copy(source, source + count, target);
    });
}

void* NarrowColumn::release() {
    if (width_bytes_ != 0) {
        void* fitted = allocated(bytes_.get(), count_, width_bytes_);
        static_cast<void>(bytes_.release());
        bytes_.reset(fitted);
    }
    return bytes_.release();
}

}  // namespace nsysan::columns
