#pragma once

#include <cstdint>
#include <vector>

#include "bytes.hpp"
#include "database.hpp"

namespace nsysan::columns {

/// The pages that hold the rows of the table whose tree begins at `root`, in the order of the rows.
///
/// They are not read, so that none of them may be such a page: `LeafPages` looks when it comes to
/// it.
std::vector<std::uint32_t> leaf_pages_of(const Database& database, std::uint32_t root);

/// Where the cells of a page begin; cells are checked as SQLite does it with `cell_size_check`.
class CellPointers {
  public:
    /// Hands over where the page is not of this kind or its cells cannot be so many.
    CellPointers(const Database& database, const std::uint8_t* page, std::uint8_t kind);

    std::uint32_t count() const { return count_; }
    /// Hands over where the cell lies outside of the part of the page that is for cells.
    const std::uint8_t* cell(std::uint32_t index) const {
        const std::uint32_t begin = big_endian_16(page_ + pointers_begin_ + 2 * index);
        if (begin < first_begin_ || begin > last_begin_) {
            throw HandOver("a cell lies outside of its page");
        }
        return page_ + begin;
    }

  private:
    const std::uint8_t* page_;
    std::uint32_t pointers_begin_;
    std::uint32_t count_;
    std::uint32_t first_begin_;
    std::uint32_t last_begin_;
};

constexpr std::uint8_t kInteriorTablePage = 0x05;
constexpr std::uint8_t kLeafTablePage = 0x0d;

/// The pages of a table one after another, read in runs of neighbours.
class LeafPages {
  public:
    LeafPages(const Database& database, std::vector<std::uint32_t> pages);

    bool is_at_end() const { return next_ == pages_.size(); }
    std::size_t left_count() const { return pages_.size() - next_; }
    std::size_t done_count() const { return next_; }
    /// The page that comes next; valid until `advance` has been called and another is asked for.
    const std::uint8_t* current();
    void advance() { ++next_; }

  private:
    void read_run();

    const Database& database_;
    std::vector<std::uint32_t> pages_;
    std::size_t next_ = 0;
    std::uint32_t run_pages_;
    std::uint32_t run_begin_ = 0;
    std::uint32_t run_end_ = 0;
    Buffer run_;
};

}  // namespace nsysan::columns
