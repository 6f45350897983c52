#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bytes.hpp"
#include "request.hpp"

namespace nsysan::columns {

/// Larger records are left to SQLite.
constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 28;

/// How to get an integer out of a record without asking for its type again: one load, a shift, a
/// mask.
struct IntegerLoad {
    std::uint32_t offset = 0;
    std::uint32_t shift = 0;
    std::int64_t mask = 0;
    std::int64_t constant = kAbsent;

    std::int64_t from(const std::uint8_t* record) const {
        const auto raw = static_cast<std::int64_t>(big_endian_64(record + offset));
        return ((raw >> shift) & mask) | constant;
    }
};

/// A column of the answer whose value is a text of the record.
struct TextLoad {
    std::size_t column;
    std::uint64_t offset;
    std::size_t size_bytes;
};

enum class Verdict : std::uint8_t { kReadable, kIncomplete, kScopeUnknown };

/// What the header of a record says about all that begin with the same bytes: a record's types and
/// widths stand there, so that everything but the values themselves is decided once for each
/// header.
struct Plan {
    std::vector<std::uint8_t> header;
    std::uint64_t record_bytes = 0;
    /// So much of the record, from its begin, holds what is asked for.
    std::uint64_t needed_bytes = 0;
    Verdict verdict = Verdict::kReadable;
    IntegerLoad scope;
    std::vector<IntegerLoad> integers;
    /// Columns of the answer that are the row's number.
    std::vector<std::size_t> row_numbers;
    std::vector<TextLoad> texts;
};

/// Makes plans and keeps those made lately.
class Planner {
  public:
    explicit Planner(const Request& request);

    /// The plan of the record whose header is these bytes, with padding behind them; valid until
    /// the next call. Hands over where SQLite might see something else in the header.
    const Plan& plan_of(const std::uint8_t* header, std::size_t header_bytes);

  private:
    struct StoredValue;
    class Compiler;

    static constexpr std::size_t kPlanCount = 512;

    const Request& request_;
    std::array<Plan, kPlanCount> plans_;
};

}  // namespace nsysan::columns
