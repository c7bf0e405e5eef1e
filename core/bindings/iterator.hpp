// Iterators of Python in C++: the end is a null pointer, as an exception of C++ for each would cost
// more than most searches.
#pragma once
#include <nanobind/nanobind.h>

namespace spillway::bindings {

/// Slots of a class whose `next` returns an object without a value at the end.
template <typename Iterator>
PyType_Slot* iterator_slots() {
  static PyType_Slot slots[] = {
      {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
      {Py_tp_iternext, reinterpret_cast<void*>(+[](PyObject* self) -> PyObject* {
         try {
           return nanobind::inst_ptr<Iterator>(self)->next().release().ptr();
         } catch (nanobind::python_error& error) {
           error.restore();
         } catch (const std::exception& error) {
           PyErr_SetString(PyExc_RuntimeError, error.what());
         }
         return nullptr;
       })},
      {0, nullptr}};
  return slots;
}

}  // namespace spillway::bindings
