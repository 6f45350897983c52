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

void need_until_end_of(const StoredValue& value, Plan& plan) {
    plan.needed_bytes = std::max(plan.needed_bytes, value.offset + value.size_bytes());
}

IntegerLoad load_of(const StoredValue& value, Plan& plan) {
    if (value.type == kZero || value.type == kOne) {
        return IntegerLoad(value.type == kOne ? IntegerLoad::Constant::kOne
                                              : IntegerLoad::Constant::kZero);
    }
    need_until_end_of(value, plan);
    return {static_cast<std::uint32_t>(value.offset),
            static_cast<std::uint32_t>(value.size_bytes())};
}

}  // namespace

bool StoredValue::is_null() const { return type == kNull && !is_row_number; }

bool StoredValue::is_integer() const {
    return is_row_number || (type > kNull && type < kReal) || type == kZero || type == kOne;
}

bool StoredValue::is_text() const { return type >= kFirstBlob; }

std::uint64_t StoredValue::size_bytes() const {
    return is_text() ? (type - kFirstBlob) / 2 : kWidths[type];
}

void PlanCompiler::compile(Plan& plan) {
    read_values(plan);
    note_used_columns();
    plan.needed_bytes = 0;
    plan.verdict = Verdict::kReadable;
    plan.integers.assign(request_.columns.size(), IntegerLoad{});
    plan.row_numbers.clear();
    plan.texts.clear();
    judge_scope(plan);
    for (std::size_t index = 0; index < request_.columns.size(); ++index) {
        judge(request_.columns[index], plan);
        choose_value(index, plan);
    }
}

void PlanCompiler::read_values(Plan& plan) {
    const std::uint8_t* begin = plan.header.data();
    VarintReader types(begin, begin + plan.header.size());
    types.next();
    std::uint64_t offset = plan.header.size();
    values_.clear();
    if (types.is_at_end()) {
        throw HandOver("a record has no values");
    }
    while (!types.is_at_end()) {
        const StoredValue value{types.next(), offset, false};
        if ((value.type > kOne && value.type < kFirstBlob) || value.type > kMaxSerialType) {
            throw HandOver("a value is of a type that is not in use");
        }
        offset += value.size_bytes();
        if (offset > kMaxRecordBytes) {
            throw HandOver("a record is too large");
        }
        values_.push_back(value);
    }
    plan.record_bytes = offset;
    if (values_.size() > request_.layout.has_default.size()) {
        throw HandOver("a record has more values than its table has columns");
    }
}

void PlanCompiler::note_used_columns() {
    const Layout& layout = request_.layout;
    for (std::size_t position = 0; position < is_used_.size(); ++position) {
        const bool is_stored = position < values_.size();
        const bool says_something =
            is_stored ? values_[position].type != kNull : layout.has_default[position];
        if (says_something || position == layout.row_number) {
            is_used_[position] = true;
        }
    }
}

StoredValue PlanCompiler::value_at(std::uint32_t position) const {
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

void PlanCompiler::judge_scope(Plan& plan) const {
    if (!request_.scope) {
        return;
    }
    const StoredValue value = value_at(request_.scope->position);
    if (value.is_row_number) {
        throw HandOver("rows are chosen by their number");
    }
    if (value.is_integer()) {
        plan.scope = load_of(value, plan);
    } else {
        plan.verdict = Verdict::kScopeUnknown;
    }
}

void PlanCompiler::judge(const Column& column, Plan& plan) const {
    if (!column.is_needed) {
        return;
    }
    const StoredValue value = value_at(column.sources.front());
    if (column.accepts_null && value.type == kReal) {
        throw HandOver("a real number may be NULL where it is none");
    }
    const bool is_complete = value.is_integer() || (column.accepts_null && value.is_null());
    if (!is_complete && plan.verdict == Verdict::kReadable) {
        plan.verdict = Verdict::kIncomplete;
    }
}

void PlanCompiler::choose_value(std::size_t index, Plan& plan) const {
    const Column& column = request_.columns[index];
    const auto source = std::find_if(column.sources.begin(), column.sources.end(),
                                     [&](auto at) { return value_at(at).is_integer(); });
    const bool has_integer = source != column.sources.end();
    if (choose_text(index, has_integer, plan) || !has_integer) {
        return;
    }
    const StoredValue value = value_at(*source);
    if (value.is_row_number) {
        plan.row_numbers.push_back(index);
    } else {
        plan.integers[index] = load_of(value, plan);
    }
}

bool PlanCompiler::choose_text(std::size_t index, bool has_integer, Plan& plan) const {
    const std::optional<std::uint32_t> position = request_.columns[index].text;
    const StoredValue value = position ? value_at(*position) : StoredValue{};
    if (value.is_null()) {
        return false;
    }
    if (!value.is_text()) {
        throw HandOver("a number stands where text is expected");
    }
    if (value.size_bytes() == 0 && has_integer) {
        return false;
    }
    plan.texts.push_back({index, value.offset, value.size_bytes()});
    need_until_end_of(value, plan);
    return true;
}

Planner::Planner(const Request& request)
    : compiler_(request), plans_(kPlanCount), last_(plans_.data()) {}

const Plan& Planner::plan_of(const std::uint8_t* header, std::size_t header_bytes) {
    // most records begin as the one before
    if (!last_->is_of(header, header_bytes)) {
        last_ = &plans_[hash_of(header, header_bytes) % kPlanCount];
    }
    Plan& plan = *last_;
    if (!plan.is_of(header, header_bytes)) {
        plan.header.assign(header, header + header_bytes);
        try {
            compiler_.compile(plan);
        } catch (...) {
            plan.header.clear();
            throw;
        }
    }
    return plan;
}

}  // namespace nsysan::columns
