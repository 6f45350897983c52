#pragma once

#include <cstdint>
#include <vector>

#include "hand_over.hpp"

namespace nsysan::columns {

/// So many bytes may be read beyond the end of every buffer of file content, so that a value of any
/// width is one load of eight bytes.
constexpr std::size_t kPaddingBytes = 8;

inline std::uint16_t big_endian_16(const std::uint8_t* at) {
    return static_cast<std::uint16_t>(at[0] << 8 | at[1]);
}

inline std::uint32_t big_endian_32(const std::uint8_t* at) {
    return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 |
           at[3];
}

inline std::uint64_t big_endian_64(const std::uint8_t* at) {
    return std::uint64_t{big_endian_32(at)} << 32 | big_endian_32(at + 4);
}

/// File content, with the padding that one load of eight bytes may run into.
class Buffer {
  public:
    explicit Buffer(std::size_t size_bytes) : bytes_(size_bytes + kPaddingBytes) {}

    std::uint8_t* data() { return bytes_.data(); }
    const std::uint8_t* data() const { return bytes_.data(); }
    std::size_t size() const { return bytes_.size() - kPaddingBytes; }
    void resize(std::size_t size_bytes) { bytes_.resize(size_bytes + kPaddingBytes); }

  private:
    std::vector<std::uint8_t> bytes_;
};

/// Reads SQLite's variable-length integers one after another; hands over at the end of what may be
/// read.
class VarintReader {
  public:
    VarintReader(const std::uint8_t* begin, const std::uint8_t* end) : at_(begin), end_(end) {}

    const std::uint8_t* position() const { return at_; }
    bool is_at_end() const { return at_ == end_; }

    std::uint64_t next() {
        if (at_ < end_ && *at_ < 0x80) {
            return *at_++;
        }
        return next_of_many_bytes();
    }

  private:
    /// Seven bits a byte, the first ones highest; a ninth byte counts with all its eight bits.
    std::uint64_t next_of_many_bytes() {
        std::uint64_t value = 0;
        for (int count = 0; count < 9; ++count) {
            if (at_ == end_) {
                throw HandOver("a number runs over its end");
            }
            const std::uint8_t byte = *at_++;
            if (count == 8) {
                return value << 8 | byte;
            }
            value = value << 7 | (byte & 0x7f);
            if (byte < 0x80) {
                break;
            }
        }
        return value;
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
};

}  // namespace nsysan::columns
