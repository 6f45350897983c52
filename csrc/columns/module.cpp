/// `nsysan.ingest._columns`: the columns of a large SQLite table, straight from its pages.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <mutex>

#include "hand_over.hpp"
#include "scan.hpp"

namespace py = pybind11;

namespace nsysan::columns {
namespace {

using Int64Array = py::array_t<std::int64_t>;

/// A scan as Python holds it: one thread at a time may go on with it, and it does so without the
/// GIL.
class PythonScan {
  public:
    PythonScan(const std::string& path, Request request, py::function id_of_text)
        : id_of_text_(std::move(id_of_text)) {
        request.check();
        const py::gil_scoped_release released;
        scan_ = std::make_unique<Scan>(path, std::move(request),
                                       [this](std::string_view text) { return id_of(text); });
    }

    std::optional<std::vector<py::object>> read(std::size_t row_count) {
        const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
        if (!lock.owns_lock()) {
            throw std::runtime_error("a scan is read by one thread at a time");
        }
        const std::size_t capacity = scan_->block_capacity(row_count);
        if (capacity == 0) {
            return std::nullopt;
        }
        std::vector<Int64Array> arrays;
        std::vector<std::int64_t*> columns;
        for (std::size_t index = 0; index < scan_->column_count(); ++index) {
            arrays.emplace_back(static_cast<py::ssize_t>(capacity));
            columns.push_back(arrays.back().mutable_data());
        }
        return first_rows(arrays, fill(columns, capacity));
    }

    std::uint64_t unreadable_count() const { return scan_->unreadable_count(); }

  private:
    std::int64_t id_of(std::string_view text) const {
        const py::gil_scoped_acquire acquired;
        return id_of_text_(py::bytes(text.data(), text.size())).cast<std::int64_t>();
    }

    std::size_t fill(const std::vector<std::int64_t*>& columns, std::size_t capacity) {
        const py::gil_scoped_release released;
        return scan_->fill(columns, capacity);
    }

    static std::vector<py::object> first_rows(const std::vector<Int64Array>& arrays,
                                              std::size_t count) {
        std::vector<py::object> filled;
        for (const Int64Array& array : arrays) {
            filled.push_back(array[py::slice(0, static_cast<py::ssize_t>(count), 1)]);
        }
        return filled;
    }

    const py::function id_of_text_;
    std::unique_ptr<Scan> scan_;
    std::mutex mutex_;
};

}  // namespace
}  // namespace nsysan::columns

PYBIND11_MODULE(_columns, module) {
    using namespace nsysan::columns;
    py::register_exception<HandOver>(module, "HandOver");
    py::class_<Layout>(module, "Layout")
        .def(py::init<std::uint32_t, std::vector<bool>, std::optional<std::uint32_t>>(),
             py::kw_only(), py::arg("root_page"), py::arg("has_default"), py::arg("row_number"));
    py::class_<Column>(module, "Column")
        .def(py::init<std::vector<std::uint32_t>, bool, bool, std::optional<std::uint32_t>>(),
             py::kw_only(), py::arg("sources"), py::arg("is_needed"), py::arg("accepts_null"),
             py::arg("text"));
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
        .def_property_readonly("unreadable_count", &PythonScan::unreadable_count);
}
