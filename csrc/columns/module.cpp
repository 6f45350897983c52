/// `nsysan.ingest._columns`: the columns of a large SQLite table, straight from its pages.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "growing_column.hpp"
#include "hand_over.hpp"
#include "kept_column.hpp"
#include "scan.hpp"

namespace py = pybind11;

namespace nsysan::columns {
namespace {

/// After so many rows it is seen whether the user wants to stop.
constexpr std::size_t kStepRows = std::size_t{1} << 16;

/// So many rows are taken apart at once: they stay in the processor's caches.
constexpr std::size_t kChunkRows = std::size_t{1} << 12;

/// The values as a numpy array that owns them.
py::array_t<std::int64_t> array_of(GrowingColumn column, std::size_t count) {
    std::int64_t* values = column.release(count);
    const py::capsule owner(values, [](void* owned) { std::free(owned); });
    return py::array_t<std::int64_t>(static_cast<py::ssize_t>(count), values, owner);
}

/// The integers as a numpy array of their width that owns them; one of a single integer where all
/// are that one.
py::array array_of(NarrowColumn& column) {
    if (column.width_bytes() == 0) {
        const std::vector<std::int64_t> one(std::min<std::size_t>(column.count(), 1),
                                            column.first());
        return py::array_t<std::int64_t>(static_cast<py::ssize_t>(one.size()), one.data());
    }
    const std::string type = "i" + std::to_string(column.width_bytes());
    void* values = column.release();
    const py::capsule owner(values, [](void* owned) { std::free(owned); });
    return py::array(py::dtype(type), {static_cast<py::ssize_t>(column.count())}, values, owner);
}

/// A scan as Python holds it: one thread at a time may go on with it, and it does so without the
/// GIL.
class PythonScan {
  public:
    using Block = std::vector<py::array_t<std::int64_t>>;

    PythonScan(const std::string& path, Request request, py::function id_of_text)
        : id_of_text_(std::move(id_of_text)) {
        request.check();
        const py::gil_scoped_release released;
        scan_ = std::make_unique<Scan>(path, std::move(request),
                                       [this](std::string_view text) { return id_of(text); });
    }

    std::optional<Block> read(std::size_t row_count) {
        const std::unique_lock<std::mutex> lock = lock_or_throw();
        if (scan_->is_at_end()) {
            return std::nullopt;
        }
        std::vector<GrowingColumn> columns(scan_->column_count());
        const std::size_t count = fill(columns, std::max(row_count, scan_->rows_of_a_page()));
        Block block;
        for (GrowingColumn& column : columns) {
            block.push_back(array_of(std::move(column), count));
        }
        return block;
    }

    /// Reads on, keeps what was read, and answers how many rows that was; nothing at the end.
    std::optional<std::size_t> keep(std::size_t row_count) {
        const std::unique_lock<std::mutex> lock = lock_or_throw();
        if (scan_->is_at_end()) {
            return std::nullopt;
        }
        std::size_t count = 0;
        do {
            count += keep_step();
            if (PyErr_CheckSignals() != 0) {
                throw py::error_already_set();
            }
        } while (!scan_->is_at_end() && count < row_count);
        return count;
    }

    /// What was kept, which is given away: each column, and the different integers of a coded one.
    std::vector<py::tuple> kept() {
        const std::unique_lock<std::mutex> lock = lock_or_throw();
        std::vector<py::tuple> columns;
        for (KeptColumn& column : kept_) {
            py::object values = py::none();
            if (column.dictionary()) {
                const std::vector<std::int64_t>& found = column.dictionary()->values();
                values =
                    py::array_t<std::int64_t>(static_cast<py::ssize_t>(found.size()), found.data());
            }
            columns.push_back(py::make_tuple(array_of(column.numbers()), values));
        }
        kept_.clear();
        return columns;
    }

    std::vector<bool> is_used() const { return scan_->is_used(); }
    std::uint64_t unreadable_count() const { return scan_->unreadable_count(); }

  private:
    std::unique_lock<std::mutex> lock_or_throw() {
        std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) {
            throw std::runtime_error("a scan is read by one thread at a time");
        }
        return lock;
    }

    std::int64_t id_of(std::string_view text) const {
        const py::gil_scoped_acquire acquired;
        return id_of_text_(py::bytes(text.data(), text.size())).cast<std::int64_t>();
    }

    /// Reads until the next page might not fit, and answers how many rows there are.
    std::size_t fill(std::vector<GrowingColumn>& columns, std::size_t row_count) {
        std::size_t count = 0;
        while (!scan_->is_at_end() && row_count - count >= scan_->rows_of_a_page()) {
            const std::size_t step = std::max(kStepRows, scan_->rows_of_a_page());
            count += fill_step(columns, count, std::min(step, row_count - count));
            if (PyErr_CheckSignals() != 0) {
                throw py::error_already_set();
            }
        }
        return count;
    }

    std::size_t fill_step(std::vector<GrowingColumn>& columns, std::size_t begin,
                          std::size_t row_count) {
        const py::gil_scoped_release released;
        std::vector<std::int64_t*> targets;
        for (GrowingColumn& column : columns) {
            column.reserve(begin + row_count);
            targets.push_back(column.data() + begin);
        }
        return scan_->fill(targets, row_count);
    }

    /// A step's rows, a chunk at a time.
    std::size_t keep_step() {
        const py::gil_scoped_release released;
        const std::size_t chunk_rows = std::max(kChunkRows, scan_->rows_of_a_page());
        std::vector<std::int64_t> chunk(scan_->column_count() * chunk_rows);
        std::vector<std::int64_t*> targets;
        for (std::size_t column = 0; column < scan_->column_count(); ++column) {
            targets.push_back(chunk.data() + column * chunk_rows);
            if (kept_.size() <= column) {
                kept_.emplace_back(scan_->form(column));
            }
        }
        std::size_t count = 0;
        while (!scan_->is_at_end() && count < kStepRows) {
            const std::size_t added = scan_->fill(targets, chunk_rows);
            for (std::size_t column = 0; column < targets.size(); ++column) {
                kept_[column].append(targets[column], added, scan_->expected_row_count());
            }
            count += added;
        }
        return count;
    }

    const py::function id_of_text_;
    std::unique_ptr<Scan> scan_;
    std::vector<KeptColumn> kept_;
    std::mutex mutex_;
};

}  // namespace
}  // namespace nsysan::columns

PYBIND11_MODULE(_columns, module) {
    using namespace nsysan::columns;
    py::register_exception<HandOver>(module, "HandOverError");
    py::class_<Layout>(module, "Layout")
        .def(py::init<std::uint32_t, std::vector<bool>, std::optional<std::uint32_t>>(),
             py::kw_only(), py::arg("root_page"), py::arg("has_default"), py::arg("row_number"));
    py::enum_<Form>(module, "Form")
        .value("NARROW", Form::kNarrow)
        .value("WIDE", Form::kWide)
        .value("CODED", Form::kCoded);
    py::class_<Column>(module, "Column")
        .def(py::init<std::vector<std::uint32_t>, bool, bool, std::optional<std::uint32_t>, Form>(),
             py::kw_only(), py::arg("sources"), py::arg("is_needed"), py::arg("accepts_null"),
             py::arg("text"), py::arg("form") = Form::kNarrow);
    py::class_<Scope>(module, "Scope")
        .def(py::init<std::uint32_t, std::vector<std::int64_t>>(), py::kw_only(),
             py::arg("position"), py::arg("values"));
    py::class_<PythonScan>(module, "Scan")
        .def(py::init([](const std::string& path, Layout layout, std::vector<Column> columns,
                         std::optional<Scope> scope, py::function id_of_text) {
                 Request request{std::move(layout), std::move(columns), std::move(scope)};
                 return std::make_unique<PythonScan>(path, std::move(request),
                                                     std::move(id_of_text));
             }),
             py::arg("path"), py::kw_only(), py::arg("layout"), py::arg("columns"),
             py::arg("scope"), py::arg("id_of_text"))
        .def("read", &PythonScan::read, py::arg("row_count"))
        .def("keep", &PythonScan::keep, py::arg("row_count"))
        .def("kept", &PythonScan::kept)
        .def_property_readonly("is_used", &PythonScan::is_used)
        .def_property_readonly("unreadable_count", &PythonScan::unreadable_count);
}
