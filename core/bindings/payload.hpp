#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

#include "model/payload.hpp"

namespace spillway::bindings {

/// An object of Python that the core keeps.
struct PythonPayload final : Payload {
  explicit PythonPayload(nanobind::object kept, bool pickled = false)
      : value(std::move(kept)), packed(pickled) {}

  ~PythonPayload() override {
    if (!nanobind::is_alive()) {
      value.release();
      return;
    }
    const nanobind::gil_scoped_acquire gil;
    value.reset();
  }

  nanobind::object value;
  /// Whether it is the pickled form of the object, which takes less memory.
  bool packed;
};

/// Keeps an object; `None` is no payload.
inline PayloadPtr wrap(nanobind::object object) {
  return object.is_none() ? nullptr : std::make_shared<PythonPayload>(std::move(object));
}

/// The object that is kept; `None` without one.
inline nanobind::object unwrap(const PayloadPtr& payload) {
  if (payload == nullptr) return nanobind::none();
  const auto& kept = static_cast<const PythonPayload&>(*payload);
  if (!kept.packed) return kept.value;
  static nanobind::object* const loads =
      new nanobind::object(nanobind::module_::import_("pickle").attr("loads"));
  return (*loads)(kept.value);
}

/// Keeps the same object in less memory.
inline PayloadPtr packed(const PayloadPtr& payload) {
  if (payload == nullptr || static_cast<const PythonPayload&>(*payload).packed) return payload;
  static nanobind::object* const dumps =
      new nanobind::object(nanobind::module_::import_("pickle").attr("dumps"));
  nanobind::object bytes = (*dumps)(unwrap(payload), 5);
  return std::make_shared<PythonPayload>(std::move(bytes), true);
}

}  // namespace spillway::bindings
