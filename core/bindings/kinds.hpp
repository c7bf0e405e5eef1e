// Kinds of resources as Python's enum.Flag `Resource` (core/resources.py).
#pragma once
#include <nanobind/nanobind.h>

#include "model/resource.hpp"

namespace spillway::bindings {

namespace nb = nanobind;

/// The member or union of `Resource` for some kinds.
nb::object resource_of(Kinds kinds);

/// Kinds of a member or union of `Resource`; a TypeError for anything else.
Kinds kinds_of(nb::handle resource);

/// An argument of type `Resource`.
struct Covering {
  Kinds kinds = ALL_KINDS;
};

}  // namespace spillway::bindings

namespace nanobind::detail {

template <>
struct type_caster<spillway::bindings::Covering> {
  NB_TYPE_CASTER(spillway::bindings::Covering, const_name("Resource"))

  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    static PyObject* const name = PyUnicode_InternFromString("_value_");
    PyObject* number = PyObject_GetAttr(source.ptr(), name);
    if (!number) {
      PyErr_Clear();
      return false;
    }
    value.kinds = static_cast<spillway::Kinds>(PyLong_AsLong(number)) & spillway::ALL_KINDS;
    Py_DECREF(number);
    return true;
  }

  static handle from_cpp(spillway::bindings::Covering covering, rv_policy, cleanup_list*) {
    return spillway::bindings::resource_of(covering.kinds).release();
  }
};

}  // namespace nanobind::detail
