#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "search/column_set.hpp"

namespace spillway::bindings {

/// A set of columns as Python's whole number: bit `c` stands for column `c`.
inline nanobind::object mask_of(const ColumnSet& columns) {
  std::vector<unsigned char> bytes;
  for (const std::uint64_t word : columns.words()) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      bytes.push_back(static_cast<unsigned char>(word >> shift));
    }
  }
  const nanobind::handle whole_number(reinterpret_cast<PyObject*>(&PyLong_Type));
  return whole_number.attr("from_bytes")(nanobind::bytes(bytes.data(), bytes.size()), "little");
}

/// The columns of a mask; a mask beyond the width, or below 0, is an OverflowError.
inline ColumnSet columns_of(nanobind::handle mask, std::int64_t width) {
  ColumnSet columns(width);
  const std::size_t size = (static_cast<std::size_t>(width) + 7) / 8;
  const auto bytes = nanobind::cast<nanobind::bytes>(mask.attr("to_bytes")(size, "little"));
  const auto* data = static_cast<const unsigned char*>(bytes.data());
  if (width % 8 != 0 && data[size - 1] >> width % 8 != 0) {
    throw std::overflow_error("a mask has columns beyond the width");
  }
  for (std::size_t at = 0; at < size; ++at) {
    columns.words()[at / 8] |= static_cast<std::uint64_t>(data[at]) << 8 * (at % 8);
  }
  return columns;
}

}  // namespace spillway::bindings
