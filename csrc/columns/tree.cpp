#include "tree.hpp"

#include <algorithm>
#include <utility>

namespace nsysan::columns {

namespace {

/// SQLite follows no deeper tree.
constexpr int kMaxHeight = 19;
constexpr std::size_t kRunBytes = std::size_t{1} << 18;
/// So many pages of something else are rather read than a run ended.
constexpr std::uint32_t kMaxSkippedPages = 3;

class LeafLister {
  public:
    explicit LeafLister(const Database& database) : database_(database) {}

    std::vector<std::uint32_t> list(std::uint32_t root) {
        database_.check_page_number(root);
        list_below(root, height_of(root));
        return std::move(leaves_);
    }

  private:
    Buffer read(std::uint32_t page) const {
        Buffer content(database_.page_bytes());
        database_.read_pages(page, 1, content.data());
        return content;
    }

    /// How many levels of interior pages there are: SQLite's trees are balanced.
    int height_of(std::uint32_t page) const {
        int height = 0;
        for (Buffer content = read(page); content.data()[0] == kInteriorTablePage;
             content = read(children_of(content).front())) {
            if (++height > kMaxHeight) {
                throw HandOver("a table's tree is too deep");
            }
        }
        return height;
    }

    std::vector<std::uint32_t> children_of(const Buffer& content) const {
        const std::uint8_t* page = content.data();
        const CellPointers cells(database_, page, kInteriorTablePage);
        std::vector<std::uint32_t> children;
        for (std::uint32_t index = 0; index < cells.count(); ++index) {
            const std::uint8_t* cell = cells.cell(index);
            VarintReader(cell + 4, page + database_.usable_bytes()).next();
            children.push_back(big_endian_32(cell));
        }
        children.push_back(big_endian_32(page + 8));
        for (const std::uint32_t child : children) {
            database_.check_page_number(child);
        }
        return children;
    }

    void list_below(std::uint32_t page, int height) {
        if (++visited_count_ > database_.page_count()) {
            throw HandOver("a table has more pages than the file");
        }
        if (height == 0) {
            leaves_.push_back(page);
            return;
        }
        for (const std::uint32_t child : children_of(read(page))) {
            list_below(child, height - 1);
        }
    }

    const Database& database_;
    std::vector<std::uint32_t> leaves_;
    std::uint64_t visited_count_ = 0;
};

}  // namespace

std::vector<std::uint32_t> leaf_pages_of(const Database& database, std::uint32_t root) {
    return LeafLister(database).list(root);
}

CellPointers::CellPointers(const Database& database, const std::uint8_t* page, std::uint8_t kind)
    : page_(page),
      pointers_begin_(kind == kLeafTablePage ? 8 : 12),
      count_(big_endian_16(page + 3)) {
    if (page[0] != kind || count_ > database.max_cell_count()) {
        throw HandOver("a page is none of a table with row numbers");
    }
    if (count_ == 0 && kind == kInteriorTablePage) {
        throw HandOver("a page inside a table's tree is empty");
    }
    first_begin_ = pointers_begin_ + 2 * count_;
    last_begin_ = database.usable_bytes() - (kind == kLeafTablePage ? 4 : 5);
}

LeafPages::LeafPages(const Database& database, std::vector<std::uint32_t> pages)
    : database_(database),
      pages_(std::move(pages)),
      run_pages_(static_cast<std::uint32_t>(
          std::max<std::size_t>(1, std::min(kRunBytes / database.page_bytes(), pages_.size())))),
      run_(std::size_t{run_pages_} * database.page_bytes()) {}

const std::uint8_t* LeafPages::current() {
    const std::uint32_t page = pages_[next_];
    if (page < run_begin_ || page >= run_end_) {
        read_run();
    }
    return run_.data() + std::size_t{page - run_begin_} * database_.page_bytes();
}

void LeafPages::read_run() {
    const std::uint32_t first = pages_[next_];
    std::uint32_t last = first;
    for (std::size_t index = next_ + 1; index < pages_.size(); ++index) {
        const std::uint32_t page = pages_[index];
        if (page <= last || page - last > kMaxSkippedPages + 1 || page - first >= run_pages_) {
            break;
        }
        last = page;
    }
    run_begin_ = run_end_ = 0;  // nothing is there, should reading fail
    database_.read_pages(first, last - first + 1, run_.data());
    run_begin_ = first;
    run_end_ = last + 1;
}

}  // namespace nsysan::columns
