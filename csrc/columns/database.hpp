#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace nsysan::columns {

constexpr std::size_t kHeaderBytes = 100;

/// An open file that closes itself.
class File {
  public:
    /// What tells that a file is still the same, as far as the file system says.
    using State = std::array<std::int64_t, 5>;

    explicit File(const std::string& path);
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    State state() const;
    std::uint64_t size_bytes() const;
    /// Fills all of the target, or hands over.
    void read(std::uint64_t offset, std::uint8_t* target, std::size_t count) const;

  private:
    int descriptor_;
};

/// The pages of an SQLite file; none of them is page 1, whose first hundred bytes are no page.
class Database {
  public:
    explicit Database(const std::string& path);

    std::uint32_t page_bytes() const { return page_bytes_; }
    /// What of a page is not reserved at its end.
    std::uint32_t usable_bytes() const { return usable_bytes_; }
    std::uint32_t page_count() const { return page_count_; }
    /// The most cells that SQLite lets a page have.
    std::uint32_t max_cell_count() const { return (page_bytes_ - 8) / 6; }

    /// Whether the file says a second time which page follows which, as it does with `auto_vacuum`.
    bool has_pointer_map() const;

    /// Hands over where no table or overflow page can have this number.
    void check_page_number(std::uint64_t page) const;
    /// Reads neighbouring pages; the first and last must have been checked.
    void read_pages(std::uint32_t first, std::uint32_t count, std::uint8_t* target) const;
    /// Hands over where the file is not what it was when it was opened.
    void check_unchanged() const;

  private:
    using Header = std::array<std::uint8_t, kHeaderBytes>;

    Header read_header() const;
    void measure();

    File file_;
    File::State state_;
    Header header_;
    std::uint32_t page_bytes_ = 0;
    std::uint32_t usable_bytes_ = 0;
    std::uint32_t page_count_ = 0;
};

}  // namespace nsysan::columns
