// Columns of CSV tables as lists and arrays of Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "log/table_cells.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

constexpr std::size_t MOST_DIGITS = 15;
constexpr std::array<double, MOST_DIGITS + 1> POWERS{1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// A decimal number of at most 15 digits: the quotient of two exact numbers is the nearest one.
std::optional<double> short_decimal(std::string_view text) {
  const bool below = !text.empty() && text.front() == '-';
  if (below) text.remove_prefix(1);
  std::int64_t digits = 0;
  std::size_t count = 0, point = text.size();
  for (std::size_t place = 0; place < text.size(); ++place) {
    const char sign = text[place];
    if (sign == '.' && point == text.size()) {
      point = place;
    } else if ('0' <= sign && sign <= '9') {
      digits = 10 * digits + (sign - '0');
      if (++count > MOST_DIGITS) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (count == 0) return std::nullopt;
  const std::size_t decimals = point == text.size() ? 0 : text.size() - point - 1;
  const double found = double(digits) / POWERS[decimals];
  return below ? -found : found;
}

/// A number as `float` of Python reads it, NaN for no text.
std::optional<double> number_of(std::string_view text) {
  if (text.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (const auto found = short_decimal(text)) return found;
  const nb::object whole =
      nb::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), nullptr));
  const nb::object number =
      whole.is_valid() ? nb::steal(PyFloat_FromString(whole.ptr())) : nb::object();
  if (!number.is_valid()) {
    PyErr_Clear();
    return std::nullopt;
  }
  return PyFloat_AsDouble(number.ptr());
}

/// A column of texts; equal ones take memory once.
class TextColumn {
 public:
  bool add(std::string_view cell) {
    if (const auto found = known_.find(cell); found != known_.end()) {
      texts_.append(nb::handle(found->second));
      return true;
    }
    const nb::object text =
        nb::steal(PyUnicode_DecodeUTF8(cell.data(), Py_ssize_t(cell.size()), nullptr));
    Py_ssize_t size = 0;
    const char* kept = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
    if (kept == nullptr) {
      PyErr_Clear();
      return false;
    }
    if (known_.size() >= MOST_KNOWN) known_.clear();  // most are of one row
    known_.emplace(std::string_view(kept, std::size_t(size)), text.ptr());
    texts_.append(text);
    return true;
  }
  const nb::list& texts() const { return texts_; }

 private:
  static constexpr std::size_t MOST_KNOWN = 10'000;

  nb::list texts_;
  /// Texts of the list, by what they hold.
  std::unordered_map<std::string_view, PyObject*> known_;
};

class TableColumns {
 public:
  TableColumns(std::size_t width, std::vector<std::size_t> texts, std::vector<std::size_t> numbers)
      : width_(width),
        text_places_(std::move(texts)),
        number_places_(std::move(numbers)),
        texts_(text_places_.size()),
        numbers_(number_places_.size()),
        cells_([this](const TableCells::Cells& cells) { return take(cells); }) {}
  TableColumns(const TableColumns&) = delete;
  TableColumns& operator=(const TableColumns&) = delete;

  bool feed(const nb::bytes& text) { return cells_.feed({text.c_str(), text.size()}); }
  bool finish() { return cells_.finish(); }
  nb::list texts() const {
    nb::list found;
    for (const TextColumn& column : texts_) found.append(column.texts());
    return found;
  }
  nb::list numbers() const {
    nb::list found;
    for (const std::vector<double>& column : numbers_) found.append(array_of(column));
    return found;
  }

 private:
  bool take(const TableCells::Cells& cells) {
    if (cells.size() != width_) return false;
    if (std::exchange(is_header_, false)) return true;
    for (std::size_t k = 0; k < texts_.size(); ++k) {
      if (!texts_[k].add(cells[text_places_[k]])) return false;
    }
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      const std::optional<double> number = number_of(cells[number_places_[k]]);
      if (!number) return false;
      numbers_[k].push_back(*number);
    }
    return true;
  }

  std::size_t width_;
  std::vector<std::size_t> text_places_, number_places_;
  bool is_header_ = true;
  std::vector<TextColumn> texts_;
  std::vector<std::vector<double>> numbers_;
  TableCells cells_;
};

/// A whole number of a text, which ends where the number ends.
bool whole_number(std::string_view& text, std::int64_t& number) {
  const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
  if (size == 0 || size > MOST_DIGITS) return false;
  number = 0;
  for (const char digit : text.substr(0, size)) number = 10 * number + (digit - '0');
  text.remove_prefix(size);
  return true;
}

/// Texts `96:3 98:1` as three columns: place of the text, number before and after the colon.
nb::tuple count_columns(nb::list texts) {
  std::vector<std::int64_t> places, names, counts;
  for (std::size_t place = 0; place < texts.size(); ++place) {
    const auto stated = nb::cast<nb::str>(texts[place]);
    std::string_view text(stated.c_str());
    while (true) {
      while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
      if (text.empty()) break;
      std::int64_t name = 0, count = 0;
      const bool is_pair = whole_number(text, name) && !text.empty() && text.front() == ':';
      if (is_pair) text.remove_prefix(1);
      if (!is_pair || !whole_number(text, count) || !(text.empty() || text.front() == ' ')) {
        const nb::object shown = nb::repr(stated);
        throw nb::value_error(nb::str("expected 'id:count' separated by blanks, got {}")
                                  .format(shown)
                                  .c_str());
      }
      places.push_back(std::int64_t(place));
      names.push_back(name);
      counts.push_back(count);
    }
  }
  return nb::make_tuple(array_of(std::move(places)), array_of(std::move(names)),
                        array_of(std::move(counts)));
}

}  // namespace

void bind_table_columns(nb::module_& module) {
  nb::class_<TableColumns>(module, "TableColumns")
      .def(nb::init<std::size_t, std::vector<std::size_t>, std::vector<std::size_t>>(),
           nb::arg("width"), nb::arg("texts"), nb::arg("numbers"))
      .def("feed", &TableColumns::feed, nb::arg("text"))
      .def("finish", &TableColumns::finish)
      .def("texts", &TableColumns::texts)
      .def("numbers", &TableColumns::numbers);
  module.def("count_columns", &count_columns, nb::arg("texts"));
}

}  // namespace spillway::bindings
