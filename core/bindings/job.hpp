// Jobs in Python, and Python's objects that travel through the core.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "model/job.hpp"
#include "model/payload.hpp"

namespace spillway::bindings {

namespace nb = nanobind;

/// A Python object that the core keeps; it may be dropped by a thread without Python's lock.
struct PyPayload final : Payload {
  explicit PyPayload(nb::object object) : value(std::move(object)) {}
  ~PyPayload() override {
    if (!Py_IsInitialized()) {
      value.release();
      return;
    }
    nb::gil_scoped_acquire lock;
    value.reset();
  }

  nb::object value;
};

inline PayloadPtr to_payload(nb::handle object) {
  return std::make_shared<PyPayload>(nb::borrow(object));
}

/// The object of a payload, or an empty one.
inline nb::object from_payload(const PayloadPtr& payload) {
  const auto* held = static_cast<const PyPayload*>(payload.get());
  return held ? held->value : nb::object();
}

/// A copy of a job with other values of some fields.
Job changed(const Job& job, const nb::kwargs& changes);

}  // namespace spillway::bindings
