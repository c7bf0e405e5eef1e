// Conversions between Python's values and those of the core.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "model/job.hpp"

namespace spillway::bindings {

namespace nb = nanobind;

/// Tuples of indices share the integers of the first indices: most tuples of nodes cost no other
/// memory.
nb::tuple tuple_of(const std::vector<std::int32_t>& indices);
nb::tuple tuple_of(const std::vector<std::int64_t>& amounts);

/// Whole numbers of any iterable.
std::vector<std::int32_t> indices_of(nb::handle numbers);
std::vector<std::int64_t> amounts_of(nb::handle numbers);

/// Words of the package's Python table (`spillway.core.refusals`), by the name of the function
/// there.
nb::object words(const char* name);
/// Raise what a function of that table returns.
template <class... Numbers>
[[noreturn]] void refuse(const char* name, Numbers&&... numbers) {
  nb::object error = words(name)(std::forward<Numbers>(numbers)...);
  PyErr_SetObject(reinterpret_cast<PyObject*>(error.type().ptr()), error.ptr());
  throw nb::python_error();
}

}  // namespace spillway::bindings
