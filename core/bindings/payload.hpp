#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "model/payload.hpp"

namespace spillway::bindings {

/// An object of Python that the core keeps.
struct PythonPayload final : Payload {
  explicit PythonPayload(nanobind::object kept, bool is_packed = false)
      : value(std::move(kept)), packed(is_packed) {}

  ~PythonPayload() override {
    if (!nanobind::is_alive()) {
      value.release();
      return;
    }
    const nanobind::gil_scoped_acquire gil;
    value.reset();
  }

  nanobind::object value;
  /// Whether it is the packed form of the object, bytes, which takes less memory.
  bool packed;
};

/// Keeps an object; `None` is no payload.
inline PayloadPtr wrap(nanobind::object object) {
  return object.is_none() ? nullptr : std::make_shared<PythonPayload>(std::move(object));
}

/// The object that is kept; `None` without one.
nanobind::object unwrap(const PayloadPtr& payload);

/// Keeps the same object in less memory.
PayloadPtr packed(const PayloadPtr& payload);

}  // namespace spillway::bindings
