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

}  // namespace spillway::bindings
