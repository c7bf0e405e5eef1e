#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace spillway::bindings {

/// A table of whole numbers as NumPy's array, which owns its memory.
using IntTable = nanobind::ndarray<nanobind::numpy, std::int64_t, nanobind::ndim<2>>;

inline IntTable int_table(std::vector<std::int64_t> values, std::size_t rows, std::size_t columns) {
  auto* kept = new std::vector<std::int64_t>(std::move(values));
  const nanobind::capsule owner(
      kept, [](void* data) noexcept { delete static_cast<std::vector<std::int64_t>*>(data); });
  return IntTable(kept->data(), {rows, columns}, owner);
}

/// Arrays of Python that are read, and arrays that are written to: these must have the right form,
/// a copy would be lost.
template <class Number, std::size_t... Columns>
using Table = nanobind::ndarray<Number, nanobind::shape<-1, Columns...>, nanobind::c_contig,
                                nanobind::device::cpu>;

/// An array of NumPy with these numbers, of its own.
template <class Number>
nanobind::object array_of(std::vector<Number> numbers) {
  auto* held = new std::vector<Number>(std::move(numbers));
  nanobind::capsule owner(
      held, [](void* vector) noexcept { delete static_cast<std::vector<Number>*>(vector); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, Number, nanobind::shape<-1>>(
      held->data(), {held->size()}, owner));
}

}  // namespace spillway::bindings
