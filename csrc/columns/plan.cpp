#include "plan.hpp"

#include <algorithm>
#include <cstring>

namespace nsysan::columns {

namespace {

/// Serial types of the file format.
constexpr std::uint64_t kNull = 0;
constexpr std::uint64_t kReal = 7;
constexpr std::uint64_t kZero = 8;
constexpr std::uint64_t kOne = 9;
constexpr std::uint64_t kFirstBlob = 12;
constexpr std::uint64_t kMaxSerialType = INT32_MAX;
constexpr std::uint32_t kWidths[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    const std::uint64_t product = (hash ^ word) * 0x9e3779b97f4a7c15;
    return product ^ product >> 29;
}

std::uint64_t hash_of(const std::uint8_t* bytes, std::size_t count) {
    std::uint64_t hash = count;
    std::uint64_t word = 0;
    for (; count >= sizeof word; bytes += sizeof word, count -= sizeof word) {
        std::memcpy(&word, bytes, sizeof word);
        hash = mixed(hash, word);
    }
    word = 0;
    std::memcpy(&word, bytes, count);
    return mixed(hash, word);
}

}  // namespace

/// A value as the header declares it; NULL where the record ends before it.
struct Planner::StoredValue {
    std::uint64_t type = kNull;
    std::uint64_t offset = 0;
    bool is_row_number = false;

    bool is_null() const { return type == kNull && !is_row_number; }
    bool is_integer() const {
        return is_row_number || (type > kNull && type < kReal) || type == kZero || type == kOne;
    }
    bool is_text() const { return type >= kFirstBlob; }
    std::uint64_t size_bytes() const { return is_text() ? (type - kFirstBlob) / 2 : kWidths[type]; }
};

/// Reads one header and decides what it means for the request.
class Planner::Compiler {
  public:
    Compiler(const Request& request, Plan& plan) : request_(request), plan_(plan) {}

    void compile() {
        read_values();
        plan_.needed_bytes = 0;
        plan_.verdict = Verdict::kReadable;
        plan_.integers.assign(request_.columns.size(), IntegerLoad{});
        plan_.row_numbers.clear();
        plan_.texts.clear();
        judge_scope();
        for (std::size_t index = 0; index < request_.columns.size(); ++index) {
            judge(request_.columns[index]);
            choose_value(index);
        }
    }

  private:
    void read_values() {
        const std::uint8_t* begin = plan_.header.data();
        VarintReader types(begin, begin + plan_.header.size());
        types.next();
        std::uint64_t offset = plan_.header.size();
        values_.clear();
        while (!types.is_at_end()) {
            StoredValue value{types.next(), offset};
            if ((value.type > kOne && value.type < kFirstBlob) || value.type > kMaxSerialType) {
                throw HandOver("a value is of a type that is not in use");
            }
            offset += value.size_bytes();
            if (offset > kMaxRecordBytes) {
                throw HandOver("a record is too large");
            }
            values_.push_back(value);
        }
        plan_.record_bytes = offset;
        if (values_.size() > request_.layout.has_default.size()) {
            throw HandOver("a record has more values than its table has columns");
        }
    }

    StoredValue value_at(std::uint32_t position) const {
        const bool is_row_number = position == request_.layout.row_number;
        if (position >= values_.size()) {
            if (request_.layout.has_default[position] && !is_row_number) {
                throw HandOver("a record is older than a column that has a default");
            }
            return {kNull, 0, is_row_number};
        }
        StoredValue value = values_[position];
        if (is_row_number && value.type != kNull) {
            throw HandOver("a row's number is stored twice");
        }
        value.is_row_number = is_row_number;
        return value;
    }

    void judge_scope() {
        if (!request_.scope) {
            return;
        }
        const StoredValue value = value_at(request_.scope->position);
        if (value.is_integer()) {
            plan_.scope = load_of(value);
        } else {
            plan_.verdict = Verdict::kScopeUnknown;
        }
    }

    void judge(const Column& column) {
        if (!column.is_needed) {
            return;
        }
        const StoredValue value = value_at(column.sources.front());
        if (column.accepts_null && value.type == kReal) {
            throw HandOver("a real number may be NULL where it is none");
        }
        const bool is_complete = value.is_integer() || (column.accepts_null && value.is_null());
        if (!is_complete && plan_.verdict == Verdict::kReadable) {
            plan_.verdict = Verdict::kIncomplete;
        }
    }

    void choose_value(std::size_t index) {
        const Column& column = request_.columns[index];
        const auto source =
            std::find_if(column.sources.begin(), column.sources.end(),
                         [&](std::uint32_t at) { return value_at(at).is_integer(); });
        const bool has_integer = source != column.sources.end();
        if (column.text && choose_text(index, value_at(*column.text), has_integer)) {
            return;
        }
        if (!has_integer) {
            return;
        }
        const StoredValue value = value_at(*source);
        if (value.is_row_number) {
            plan_.row_numbers.push_back(index);
        } else {
            plan_.integers[index] = load_of(value);
        }
    }

    bool choose_text(std::size_t index, const StoredValue& value, bool has_integer) {
        if (value.is_null()) {
            return false;
        }
        if (!value.is_text()) {
            throw HandOver("a number stands where text is expected");
        }
        if (value.size_bytes() == 0 && has_integer) {
            return false;
        }
        plan_.texts.push_back({index, value.offset, value.size_bytes()});
        need_until(value);
        return true;
    }

    IntegerLoad load_of(const StoredValue& value) {
        if (value.is_row_number) {
            throw HandOver("rows are chosen by their number");
        }
        if (value.type == kZero || value.type == kOne) {
            return {0, 0, 0, value.type == kOne ? 1 : 0};
        }
        need_until(value);
        const auto shift = static_cast<std::uint32_t>(64 - 8 * value.size_bytes());
        return {static_cast<std::uint32_t>(value.offset), shift, -1, 0};
    }

    void need_until(const StoredValue& value) {
        plan_.needed_bytes = std::max(plan_.needed_bytes, value.offset + value.size_bytes());
    }

    const Request& request_;
    Plan& plan_;
    std::vector<StoredValue> values_;
};

Planner::Planner(const Request& request) : request_(request) {}

const Plan& Planner::plan_of(const std::uint8_t* header, std::size_t header_bytes) {
    Plan& plan = plans_[hash_of(header, header_bytes) % kPlanCount];
    if (plan.header.size() != header_bytes ||
        std::memcmp(plan.header.data(), header, header_bytes) != 0) {
        plan.header.assign(header, header + header_bytes);
        try {
            Compiler(request_, plan).compile();
        } catch (...) {
            plan.header.clear();
            throw;
        }
    }
    return plan;
}

}  // namespace nsysan::columns
