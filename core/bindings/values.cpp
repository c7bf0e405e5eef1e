#include "bindings/values.hpp"

#include <string>

namespace spillway::bindings {
namespace {

constexpr std::size_t SHARED = 1 << 16;

// Integers live as long as the process.
PyObject* shared_index(std::int32_t index) {
  static std::vector<PyObject*> known;
  while (known.size() <= static_cast<std::size_t>(index)) {
    known.push_back(PyLong_FromLong(static_cast<long>(known.size())));
  }
  PyObject* number = known[static_cast<std::size_t>(index)];
  Py_INCREF(number);
  return number;
}

template <class Number>
std::vector<Number> numbers_of(nb::handle numbers) {
  std::vector<Number> found;
  for (nb::handle number : numbers) found.push_back(nb::cast<Number>(number));
  return found;
}

}  // namespace

nb::tuple tuple_of(const std::vector<std::int32_t>& indices) {
  PyObject* made = PyTuple_New(static_cast<Py_ssize_t>(indices.size()));
  if (!made) throw nb::python_error();
  Py_ssize_t place = 0;
  for (const std::int32_t index : indices) {
    const bool shared = index >= 0 && static_cast<std::size_t>(index) < SHARED;
    PyTuple_SetItem(made, place++, shared ? shared_index(index) : PyLong_FromLong(index));
  }
  return nb::steal<nb::tuple>(made);
}

nb::tuple tuple_of(const std::vector<std::int64_t>& amounts) {
  PyObject* made = PyTuple_New(static_cast<Py_ssize_t>(amounts.size()));
  if (!made) throw nb::python_error();
  Py_ssize_t place = 0;
  for (const std::int64_t amount : amounts)
    PyTuple_SetItem(made, place++, PyLong_FromLongLong(amount));
  return nb::steal<nb::tuple>(made);
}

std::vector<std::int32_t> indices_of(nb::handle numbers) {
  return numbers_of<std::int32_t>(numbers);
}
std::vector<std::int64_t> amounts_of(nb::handle numbers) {
  return numbers_of<std::int64_t>(numbers);
}

nb::object words(const char* name) {
  return nb::module_::import_("spillway.core.refusals").attr(name);
}

}  // namespace spillway::bindings
