// Jobs in Python, and Python's objects that travel through the core.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "bindings/payload.hpp"
#include "model/job.hpp"

namespace spillway::bindings {

namespace nb = nanobind;

inline PayloadPtr to_payload(nb::handle object) {
  return std::make_shared<PythonPayload>(nb::borrow(object));
}

/// The object of a payload, or an empty one.
inline nb::object from_payload(const PayloadPtr& payload) {
  return payload == nullptr ? nb::object() : unwrap(payload);
}

/// Sets the fields that a job's record states beyond those of Batsim, and what they say of its
/// owner.
void set_extras(Job& job, nb::handle extras);

/// A copy of a job with other values of some fields.
Job changed(const Job& job, const nb::kwargs& changes);

}  // namespace spillway::bindings
