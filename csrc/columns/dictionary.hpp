#pragma once

#include <cstdint>
#include <vector>

namespace nsysan::columns {

/// Different integers, each at the place where it was met first.
class Dictionary {
  public:
    /// The place of the value, a new one where it is met for the first time.
    std::int64_t place_of(std::int64_t value) {
        // most rows have the value of the row before
        if (value != last_value_ || values_.empty()) {
            last_place_ = found(value);
            last_value_ = value;
        }
        return last_place_;
    }

    const std::vector<std::int64_t>& values() const { return values_; }
    /// Whether there are so many values, or values so unlucky, that finding one takes long.
    bool is_slow() const { return values_.size() > kMaxValues || is_crowded_; }

  private:
    static constexpr std::int64_t kNowhere = -1;
    static constexpr std::size_t kMaxValues = std::size_t{1} << 20;
    /// Far more than chance brings: such values were chosen to be slow.
    static constexpr std::size_t kMaxSteps = 256;

    std::int64_t found(std::int64_t value) {
        if (2 * values_.size() >= slots_.size()) {
            grow();
        }
        std::int64_t& slot = slots_[slot_of(value)];
        if (slot == kNowhere) {
            slot = static_cast<std::int64_t>(values_.size());
            values_.push_back(value);
        }
        return slot;
    }

    /// Where the value is, or would be; there is always an empty slot.
    std::size_t slot_of(std::int64_t value) {
        std::size_t steps = 0;
        const std::uint64_t product = static_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15;
        std::size_t slot = static_cast<std::size_t>(product >> 32) & (slots_.size() - 1);
        while (slots_[slot] != kNowhere &&
               values_[static_cast<std::size_t>(slots_[slot])] != value) {
            slot = (slot + 1) & (slots_.size() - 1);
            ++steps;
        }
        is_crowded_ = is_crowded_ || steps > kMaxSteps;
        return slot;
    }

    void grow() {
        slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), kNowhere);
        for (std::size_t place = 0; place < values_.size(); ++place) {
            slots_[slot_of(values_[place])] = static_cast<std::int64_t>(place);
        }
    }

    std::vector<std::int64_t> values_;
    /// A power of two of them.
    std::vector<std::int64_t> slots_;
    bool is_crowded_ = false;
    std::int64_t last_value_ = 0;
    std::int64_t last_place_ = kNowhere;
};

}  // namespace nsysan::columns
