#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "bytes.hpp"
#include "request.hpp"

namespace nsysan::columns {

/// Larger records are left to SQLite.
constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 28;

/// How to get an integer out of a record without asking for its type again: a load, a shift, a
/// mask. There are many of them, so each is small.
class IntegerLoad {
  public:
    /// Always this value.
    enum class Constant : std::uint8_t { kStored, kZero, kOne, kAbsent };

    IntegerLoad() = default;
    explicit IntegerLoad(Constant constant) : constant_(constant) {}
    IntegerLoad(std::uint32_t offset, std::uint32_t size_bytes)
        : offset_(offset),
          shift_(static_cast<std::uint8_t>(64 - 8 * size_bytes)),
          constant_(Constant::kStored) {}

    std::int64_t from(const std::uint8_t* record) const {
        const auto raw = static_cast<std::int64_t>(big_endian_64(record + offset_));
        const auto which = static_cast<std::size_t>(constant_);
        return ((raw >> shift_) & kMasks[which]) | kConstants[which];
    }

  private:
    static constexpr std::int64_t kMasks[] = {-1, 0, 0, 0};
    static constexpr std::int64_t kConstants[] = {0, 0, 1, kAbsent};

    std::uint32_t offset_ = 0;
    std::uint8_t shift_ = 0;
    Constant constant_ = Constant::kAbsent;
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

    /// Whether it is that of the records that begin with these bytes.
    bool is_of(const std::uint8_t* bytes, std::size_t count) const {
        return header.size() == count && std::memcmp(header.data(), bytes, count) == 0;
    }
};

/// A value as a header declares it; NULL where the record ends before it.
struct StoredValue {
    std::uint64_t type = 0;
    std::uint64_t offset = 0;
    bool is_row_number = false;

    bool is_null() const;
    bool is_integer() const;
    bool is_text() const;
    std::uint64_t size_bytes() const;
};

/// Reads headers and decides what each means for the request.
class PlanCompiler {
  public:
    explicit PlanCompiler(const Request& request)
        : request_(request), is_used_(request.layout.has_default.size()) {}

    /// Makes the plan that of its header. Hands over where SQLite might see something else in it.
    void compile(Plan& plan);
    /// For each column of the table whether any header so far declares another value than NULL.
    const std::vector<bool>& is_used() const { return is_used_; }

  private:
    void read_values(Plan& plan);
    void note_used_columns();
    StoredValue value_at(std::uint32_t position) const;
    void judge_scope(Plan& plan) const;
    void judge(const Column& column, Plan& plan) const;
    void choose_value(std::size_t index, Plan& plan) const;
    bool choose_text(std::size_t index, bool has_integer, Plan& plan) const;

    const Request& request_;
    std::vector<StoredValue> values_;
    std::vector<bool> is_used_;
};

/// Makes plans and keeps those made lately.
class Planner {
  public:
    explicit Planner(const Request& request);

    /// The plan of the record whose header is these bytes, with padding behind them; valid until
    /// the next call. Hands over where SQLite might see something else in the header.
    const Plan& plan_of(const std::uint8_t* header, std::size_t header_bytes);
    /// What `PlanCompiler` says of the headers so far.
    const std::vector<bool>& is_used() const { return compiler_.is_used(); }

  private:
    /// Kernels with little in common have some hundred headers between them.
    static constexpr std::size_t kPlanCount = 4096;

    PlanCompiler compiler_;
    std::vector<Plan> plans_;
    Plan* last_;
};

}  // namespace nsysan::columns
