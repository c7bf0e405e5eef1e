// Names of the fields of objects of Python.
#pragma once
#include <nanobind/nanobind.h>

namespace spillway::bindings {

/// Name of a field; one text of Python for all readings.
class Field {
 public:
  explicit Field(const char* text) : text_(text) {}
  operator const char*() const { return text_; }
  PyObject* object() const {
    if (object_ == nullptr) object_ = PyUnicode_InternFromString(text_);
    return object_;
  }

 private:
  const char* text_;
  mutable PyObject* object_ = nullptr;  // lives as long as the process
};

/// A member of a dict, or null.
inline PyObject* member(nanobind::handle dict, const Field& name) {
  return PyDict_GetItem(dict.ptr(), name.object());
}

}  // namespace spillway::bindings
