// Requests as the structs of Python.
#pragma once

#include "bindings/python_types.hpp"
#include "model/messages.hpp"

namespace spillway::bindings {

/// A request as a struct of `spillway.protocol.messages`.
nb::object request_object(const Request& request);

}  // namespace spillway::bindings
