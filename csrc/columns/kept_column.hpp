#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dictionary.hpp"
#include "narrow_column.hpp"
#include "request.hpp"

namespace nsysan::columns {

/// A column of the answer as it is kept: its integers, or their places among the different ones.
class KeptColumn {
  public:
    explicit KeptColumn(Form form) : numbers_(form == Form::kWide) {
        if (form == Form::kCoded) {
            dictionary_.emplace();
        }
    }

    void append(const std::int64_t* values, std::size_t count, std::size_t expected_count);

    /// The integers; where there is a dictionary, the places in it.
    NarrowColumn& numbers() { return numbers_; }
    /// Nothing where the column is not coded, or has too many different values.
    const std::optional<Dictionary>& dictionary() const { return dictionary_; }

  private:
    void decode();

    NarrowColumn numbers_;
    std::optional<Dictionary> dictionary_;
    std::vector<std::int64_t> places_;
};

}  // namespace nsysan::columns
