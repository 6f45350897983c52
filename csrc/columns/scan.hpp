#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "database.hpp"
#include "plan.hpp"
#include "request.hpp"
#include "tree.hpp"

namespace nsysan::columns {

/// The id of a text, given by whoever asks; an id never changes, so that it may be asked for again.
using IdOfText = std::function<std::int64_t(std::string_view)>;

/// The rows of one table, a block at a time, in the order of their numbers.
class Scan {
  public:
    Scan(const std::string& path, Request request, IdOfText id_of_text);
    Scan(const Scan&) = delete;
    Scan& operator=(const Scan&) = delete;

    std::size_t column_count() const { return request_.columns.size(); }
    bool is_at_end() const { return leaves_.is_at_end(); }
    /// The most rows that a page can hold.
    std::size_t rows_of_a_page() const { return database_.max_cell_count(); }
    /// Fills the columns page by page, as far as there is room for `capacity` rows, and answers how
    /// many rows there are in them. Room for a page at least must be there.
    std::size_t fill(const std::vector<std::int64_t*>& columns, std::size_t capacity);
    /// How many rows there will be at the end, as far as those so far tell: never fewer than them.
    std::size_t expected_row_count() const;
    /// For each column of the table whether any row so far may hold a value.
    const std::vector<bool>& is_used() const { return planner_.is_used(); }
    Form form(std::size_t column) const { return request_.columns[column].form; }
    /// Rows so far that are in scope, or may be, and cannot be read.
    std::uint64_t unreadable_count() const { return unreadable_count_; }

  private:
    struct Cell {
        std::uint64_t record_bytes;
        std::int64_t row_number;
        const std::uint8_t* content;
        std::size_t local_bytes;
    };

    Cell cell_at(const std::uint8_t* begin, const std::uint8_t* page_end) const;
    std::size_t local_bytes_of(std::uint64_t record_bytes) const;
    bool add_row(const Cell& cell, const std::vector<std::int64_t*>& columns, std::size_t row);
    std::size_t header_bytes_of(const Cell& cell) const;
    bool is_in_scope(const Plan& plan, const std::uint8_t* record) const;
    /// The first bytes of the record: where they lie, or brought together from its overflow pages.
    const std::uint8_t* first_bytes(const Cell& cell, std::uint64_t count);
    void gather(const Cell& cell, std::uint64_t count);
    std::int64_t id_of(std::string_view text);

    const Request request_;
    const IdOfText id_of_text_;
    const Database database_;
    LeafPages leaves_;
    const bool has_one_page_;
    Planner planner_;
    Buffer gathered_{0};
    Buffer overflow_;
    /// The texts that `ids_` looks into; none of them moves.
    std::deque<std::string> texts_;
    std::unordered_map<std::string_view, std::int64_t> ids_;
    std::uint64_t unreadable_count_ = 0;
    std::size_t row_count_ = 0;
    bool is_given_up_ = false;
};

}  // namespace nsysan::columns
