// Python's side of the core's values: objects that travel through it unread, enumerations, the
// scheduler's job.
#pragma once

#include <nanobind/nanobind.h>

#include <nanobind/stl/shared_ptr.h>

#include <string>
#include <utility>

#include "bindings/collected.hpp"
#include "bindings/job.hpp"
#include "bindings/values.hpp"
#include "model/amount.hpp"
#include "model/job.hpp"
#include "model/messages.hpp"

namespace spillway::bindings {

/// The object that a payload holds; `None` without one.
inline nb::object object_of(const PayloadPtr& payload) {
  return payload ? from_payload(payload) : nb::none();
}

/// A payload for an object; null for `None`.
inline PayloadPtr payload_of(nb::handle object) {
  return object.is_none() ? nullptr : to_payload(object);
}

/// Keep an object until the interpreter exits; return its place, which is empty from then on.
PyObject** kept(nb::object object);

/// A name of a Python module, imported at its first use.
class Imported {
 public:
  Imported(const char* module, const char* name) : module_(module), name_(name) {}
  nb::handle operator*() {
    if (!place_ || !*place_) place_ = kept(nb::module_::import_(module_).attr(name_));
    return *place_;
  }
  template <class... Arguments>
  nb::object operator()(Arguments&&... arguments) {
    return (**this)(std::forward<Arguments>(arguments)...);
  }
  bool is_type_of(nb::handle object) {
    return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == (**this).ptr();
  }

 private:
  const char* module_;
  const char* name_;
  PyObject** place_ = nullptr;
};

/// Names of methods, each made a text of Python once: a call by name looks that up instead of
/// decoding it.
template <std::size_t size>
class MethodNames {
 public:
  explicit MethodNames(const char* const (&names)[size]) : names_(names) {}
  nb::handle operator[](std::size_t method) {
    PyObject**& place = places_[method];
    if (!place || !*place) place = kept(nb::steal(PyUnicode_InternFromString(names_[method])));
    return *place;
  }

 private:
  const char* const (&names_)[size];
  PyObject** places_[size] = {};
};

/// Members of an enumeration of Python, in the order of the core's.
template <std::size_t size>
class Members {
 public:
  Members(const char* module, const char* name, const char* const (&names)[size])
      : of_(module, name), names_(names) {}
  nb::handle operator[](std::size_t member) {
    find();
    return *places_[member];
  }
  /// Number of a member; `size` for any other object.
  std::size_t place(nb::handle object) {
    find();
    std::size_t member = 0;
    while (member < size && *places_[member] != object.ptr()) ++member;
    return member;
  }

 private:
  void find() {
    if (places_[0] && *places_[0]) return;
    for (std::size_t member = 0; member < size; ++member) {
      places_[member] = kept((*of_).attr(names_[member]));
    }
  }
  Imported of_;
  const char* const (&names_)[size];
  PyObject** places_[size] = {};
};

nb::handle state_object(JobState state);
/// Raises TypeError for anything but a member of `JobState`.
JobState state_of(nb::handle object);

/// A number of Python: whole, or not. Raises what `float()` raises.
Amount amount_of(nb::handle number);
nb::object number_of(const Amount& amount);

/// The scheduler's jobs and allocations: the objects themselves.

}  // namespace spillway::bindings
