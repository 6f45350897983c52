#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

namespace nsysan::columns {

/// In a column: the file does not hold this value.
constexpr std::int64_t kAbsent = INT64_MIN;

/// How a column is kept: in as few bytes as its integers need, in 8 bytes each, or as places among
/// its different integers.
enum class Form : std::uint8_t { kNarrow, kWide, kCoded };

/// A column of the answer: the first of `sources` that holds an integer, or the id of the text in
/// `text` where that says something. Sources and text are positions of values in a record.
struct Column {
    std::vector<std::uint32_t> sources;
    /// A record whose first source holds no integer cannot be read...
    bool is_needed = false;
    /// ...unless it holds NULL, and that is said here.
    bool accepts_null = false;
    std::optional<std::uint32_t> text;
    Form form = Form::kNarrow;
};

/// The rows that are asked for: those with one of `values` at this position.
struct Scope {
    std::uint32_t position;
    std::vector<std::int64_t> values;
};

/// What the schema says about how the rows of a table are stored, as far as it matters here.
struct Layout {
    std::uint32_t root_page = 0;
    /// For each column of the table, whether a record that ends before it means anything but NULL.
    std::vector<bool> has_default;
    /// The column where NULL is stored and the row's number is meant: INTEGER PRIMARY KEY.
    std::optional<std::uint32_t> row_number;
};

struct Request {
    Layout layout;
    std::vector<Column> columns;
    std::optional<Scope> scope;

    /// Throws std::invalid_argument where a position is none of the table's, or a needed column has
    /// no source.
    void check() const {
        for (const Column& column : columns) {
            std::for_each(column.sources.begin(), column.sources.end(),
                          [&](auto at) { check(at); });
            check(column.text.value_or(0));
            if (column.is_needed && column.sources.empty()) {
                throw std::invalid_argument("a needed column has a source");
            }
        }
        check(scope ? scope->position : 0);
        check(layout.row_number.value_or(0));
    }

  private:
    void check(std::uint32_t position) const {
        if (position >= layout.has_default.size()) {
            throw std::invalid_argument("the table has no such column");
        }
    }
};

}  // namespace nsysan::columns
