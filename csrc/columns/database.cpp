#include "database.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bytes.hpp"

namespace nsysan::columns {

namespace {

constexpr char kMagic[] = "SQLite format 3";
constexpr std::uint32_t kSmallestPageBytes = 512;
constexpr std::uint32_t kLargestPageBytes = 65536;
constexpr std::uint32_t kSmallestUsableBytes = 480;
constexpr std::uint8_t kNewestFormat = 2;
constexpr std::uint8_t kPayloadFractions[] = {64, 32, 32};
/// SQLite locks this byte of a file and so never uses the page that it lies in.
constexpr std::uint64_t kLockByte = 0x40000000;

struct stat status_of(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) {
        throw HandOver("the file has no status");
    }
    return status;
}

}  // namespace

File::File(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) {
        throw HandOver("the file cannot be opened");
    }
}

File::~File() { close(descriptor_); }

File::State File::state() const {
    const struct stat status = status_of(descriptor_);
#ifdef __APPLE__
    const timespec modified = status.st_mtimespec;
#else
    const timespec modified = status.st_mtim;
#endif
    return {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
            static_cast<std::int64_t>(status.st_size), static_cast<std::int64_t>(modified.tv_sec),
            static_cast<std::int64_t>(modified.tv_nsec)};
}

std::uint64_t File::size_bytes() const {
    return static_cast<std::uint64_t>(status_of(descriptor_).st_size);
}

void File::read(std::uint64_t offset, std::uint8_t* target, std::size_t count) const {
    while (count > 0) {
        const ssize_t done = pread(descriptor_, target, count, static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done <= 0) {
            throw HandOver("the file ends early or cannot be read");
        }
        target += done;
        offset += static_cast<std::uint64_t>(done);
        count -= static_cast<std::size_t>(done);
    }
}

Database::Database(const std::string& path)
    : file_(path), state_(file_.state()), header_(read_header()) {
    measure();
}

Database::Header Database::read_header() const {
    Header header;
    file_.read(0, header.data(), header.size());
    return header;
}

void Database::measure() {
    const std::uint32_t stored_page_bytes = big_endian_16(&header_[16]);
    page_bytes_ = stored_page_bytes == 1 ? kLargestPageBytes : stored_page_bytes;
    const bool is_power_of_two = (page_bytes_ & (page_bytes_ - 1)) == 0;
    if (std::memcmp(header_.data(), kMagic, sizeof kMagic) != 0 || !is_power_of_two ||
        page_bytes_ < kSmallestPageBytes || page_bytes_ > kLargestPageBytes ||
        header_[18] > kNewestFormat || header_[19] > kNewestFormat ||
        std::memcmp(&header_[21], kPayloadFractions, sizeof kPayloadFractions) != 0) {
        throw HandOver("the file's header is not that of an SQLite database");
    }
    usable_bytes_ = page_bytes_ - header_[20];
    if (usable_bytes_ < kSmallestUsableBytes) {
        throw HandOver("too much of each page is reserved");
    }
    const std::uint64_t whole_pages = file_.size_bytes() / page_bytes_;
    // the count is that of the last writer only where it changed the file last
    const bool is_counted = std::memcmp(&header_[24], &header_[92], 4) == 0;
    const std::uint64_t counted = big_endian_32(&header_[28]);
    const std::uint64_t page_count = is_counted && counted != 0 ? counted : whole_pages;
    if (page_count > whole_pages || page_count > UINT32_MAX) {
        throw HandOver("the file is shorter than its header says");
    }
    page_count_ = static_cast<std::uint32_t>(page_count);
}

bool Database::has_pointer_map() const { return big_endian_32(&header_[52]) != 0; }

void Database::check_page_number(std::uint64_t page) const {
    const bool is_lock_page = page == kLockByte / page_bytes_ + 1;
    if (page < 2 || page > page_count_ || is_lock_page) {
        throw HandOver("a page number is none of a table");
    }
}

void Database::read_pages(std::uint32_t first, std::uint32_t count, std::uint8_t* target) const {
    file_.read(std::uint64_t{first - 1} * page_bytes_, target, std::size_t{count} * page_bytes_);
}

void Database::check_unchanged() const {
    // the header holds a counter that every writer raises
    if (file_.state() != state_ || read_header() != header_) {
        throw HandOver("the file changed while it was read");
    }
}

}  // namespace nsysan::columns
