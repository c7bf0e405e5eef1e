#pragma once

#include <nanobind/nanobind.h>

#include "bindings/messages.hpp"

namespace spillway::bindings {

/// Messages of a session between Python's structs and the core's. An event or request that the core
/// does not read keeps its struct.
class Translation {
 public:
  Translation();

  Message message(nanobind::handle message) const;
  Event event(nanobind::handle event) const;
  Request request(nanobind::handle request) const;

  nanobind::object to_python(const Message& message) { return table_.message(message); }
  nanobind::object to_python(const Event& event) { return table_.event(event); }
  nanobind::object to_python(const Reply& reply) const;

 private:
  mutable MessageTable table_;
  nanobind::object begins_, ends_, submitted_, completed_, call_, reply_;
};

}  // namespace spillway::bindings
