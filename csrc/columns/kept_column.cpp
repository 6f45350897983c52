#include "kept_column.hpp"

#include <algorithm>
#include <utility>

namespace nsysan::columns {

namespace {

constexpr std::size_t kBlockCount = std::size_t{1} << 12;

}  // namespace

void KeptColumn::append(const std::int64_t* values, std::size_t count, std::size_t expected_count) {
    if (!dictionary_) {
        numbers_.append(values, count, expected_count);
        return;
    }
    places_.resize(count);
    std::transform(values, values + count, places_.begin(),
                   [this](std::int64_t value) { return dictionary_->place_of(value); });
    numbers_.append(places_.data(), count, expected_count);
    if (dictionary_->is_slow()) {
        decode();
    }
}

void KeptColumn::decode() {
    NarrowColumn decoded(true);
    places_.resize(kBlockCount);
    for (std::size_t begin = 0; begin < numbers_.count(); begin += kBlockCount) {
        const std::size_t count = std::min(kBlockCount, numbers_.count() - begin);
        numbers_.copy_to(places_.data(), begin, count);
        std::transform(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(count),
                       places_.begin(), [this](std::int64_t place) {
                           return dictionary_->values()[static_cast<std::size_t>(place)];
                       });
        decoded.append(places_.data(), count, numbers_.count());
    }
    numbers_ = std::move(decoded);
    dictionary_.reset();
}

}  // namespace nsysan::columns
