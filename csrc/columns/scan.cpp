#include "scan.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nsysan::columns {

namespace {

/// Each text is kept here once more than by whoever gives the ids; beyond so many they are asked
/// for again.
constexpr std::size_t kMaxKeptTexts = std::size_t{1} << 16;

}  // namespace

Scan::Scan(const std::string& path, Request request, IdOfText id_of_text)
    : request_(std::move(request)),
      id_of_text_(std::move(id_of_text)),
      database_(path),
      leaves_(database_, leaf_pages_of(database_, request_.layout.root_page)),
      has_one_page_(leaves_.left_count() == 1),
      planner_(request_),
      overflow_(database_.page_bytes()) {}

std::size_t Scan::fill(const std::vector<std::int64_t*>& columns, std::size_t capacity) {
    if (is_given_up_) {
        throw HandOver("this table was handed over before");
    }
    is_given_up_ = true;  // unless the end is reached
    std::size_t row = 0;
    for (; !leaves_.is_at_end(); leaves_.advance()) {
        const std::uint8_t* page = leaves_.current();
        const CellPointers cells(database_, page, kLeafTablePage);
        if (cells.count() == 0 && !has_one_page_) {
            throw HandOver("a page of a table is empty");
        }
        if (row + cells.count() > capacity) {
            break;
        }
        for (std::uint32_t index = 0; index < cells.count(); ++index) {
            const Cell cell = cell_at(cells.cell(index), page + database_.usable_bytes());
            row += add_row(cell, columns, row);
        }
    }
    database_.check_unchanged();
    is_given_up_ = false;
    row_count_ += row;
    return row;
}

std::size_t Scan::expected_row_count() const {
    const std::size_t done = std::max<std::size_t>(leaves_.done_count(), 1);
    // a little more, for pages hold different numbers of rows
    const double growth =
        1.02 * static_cast<double>(leaves_.left_count()) / static_cast<double>(done);
    return row_count_ + static_cast<std::size_t>(growth * static_cast<double>(row_count_));
}

Scan::Cell Scan::cell_at(const std::uint8_t* begin, const std::uint8_t* page_end) const {
    VarintReader numbers(begin, page_end);
    Cell cell;
    cell.record_bytes = numbers.next();
    cell.row_number = static_cast<std::int64_t>(numbers.next());
    cell.content = numbers.position();
    const std::uint64_t file_bytes = std::uint64_t{database_.page_count()} * database_.page_bytes();
    if (cell.record_bytes > std::min(kMaxRecordBytes, file_bytes)) {
        throw HandOver("a record is too large");
    }
    cell.local_bytes = local_bytes_of(cell.record_bytes);
    const std::size_t link_bytes = cell.local_bytes < cell.record_bytes ? 4 : 0;
    if (cell.local_bytes + link_bytes > static_cast<std::size_t>(page_end - cell.content)) {
        throw HandOver("a record runs over the end of its page");
    }
    return cell;
}

std::size_t Scan::local_bytes_of(std::uint64_t record_bytes) const {
    const std::uint64_t usable = database_.usable_bytes();
    const std::uint64_t most = usable - 35;
    if (record_bytes <= most) {
        return static_cast<std::size_t>(record_bytes);
    }
    const std::uint64_t least = (usable - 12) * 32 / 255 - 23;
    const std::uint64_t without_rest = least + (record_bytes - least) % (usable - 4);
    return static_cast<std::size_t>(without_rest <= most ? without_rest : least);
}

bool Scan::add_row(const Cell& cell, const std::vector<std::int64_t*>& columns, std::size_t row) {
    const std::size_t header_bytes = header_bytes_of(cell);
    const Plan& plan = planner_.plan_of(first_bytes(cell, header_bytes), header_bytes);
    if (plan.record_bytes != cell.record_bytes) {
        throw HandOver("a record is not as long as its values");
    }
    const std::uint8_t* record = first_bytes(cell, plan.needed_bytes);
    if (plan.verdict == Verdict::kScopeUnknown) {
        ++unreadable_count_;
        return false;
    }
    if (!is_in_scope(plan, record)) {
        return false;
    }
    if (plan.verdict == Verdict::kIncomplete) {
        ++unreadable_count_;
        return false;
    }
    for (std::size_t index = 0; index < columns.size(); ++index) {
        columns[index][row] = plan.integers[index].from(record);
    }
    for (const std::size_t index : plan.row_numbers) {
        columns[index][row] = cell.row_number;
    }
    for (const TextLoad& text : plan.texts) {
        const auto* begin = reinterpret_cast<const char*>(record + text.offset);
        columns[text.column][row] = id_of({begin, text.size_bytes});
    }
    return true;
}

std::size_t Scan::header_bytes_of(const Cell& cell) const {
    VarintReader numbers(cell.content, cell.content + cell.local_bytes);
    const std::uint64_t header_bytes = numbers.next();
    const auto size_bytes = static_cast<std::uint64_t>(numbers.position() - cell.content);
    if (header_bytes < size_bytes || header_bytes > cell.record_bytes) {
        throw HandOver(
            "the header of a record is longer than the record, or shorter than its length");
    }
    return static_cast<std::size_t>(header_bytes);
}

bool Scan::is_in_scope(const Plan& plan, const std::uint8_t* record) const {
    if (!request_.scope) {
        return true;
    }
    const std::vector<std::int64_t>& values = request_.scope->values;
    return std::find(values.begin(), values.end(), plan.scope.from(record)) != values.end();
}

const std::uint8_t* Scan::first_bytes(const Cell& cell, std::uint64_t count) {
    if (count <= cell.local_bytes) {
        return cell.content;
    }
    gather(cell, count);
    return gathered_.data();
}

void Scan::gather(const Cell& cell, std::uint64_t count) {
    if (database_.has_pointer_map()) {
        throw HandOver("the overflow pages of a record are found by the pointer map");
    }
    gathered_.resize(static_cast<std::size_t>(count));
    std::memcpy(gathered_.data(), cell.content, cell.local_bytes);
    std::size_t done = cell.local_bytes;
    const std::size_t bytes_a_page = database_.usable_bytes() - 4;
    std::uint32_t page = big_endian_32(cell.content + cell.local_bytes);
    while (done < count) {
        database_.check_page_number(page);
        database_.read_pages(page, 1, overflow_.data());
        const std::size_t part = std::min<std::size_t>(bytes_a_page, count - done);
        std::memcpy(gathered_.data() + done, overflow_.data() + 4, part);
        done += part;
        page = big_endian_32(overflow_.data());
    }
}

std::int64_t Scan::id_of(std::string_view text) {
    const auto known = ids_.find(text);
    if (known != ids_.end()) {
        return known->second;
    }
    const std::int64_t id = id_of_text_(text);
    if (ids_.size() >= kMaxKeptTexts) {
        ids_.clear();
        texts_.clear();
    }
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
}

}  // namespace nsysan::columns
