// What follows from an event, as the structs of Python that a session written in Python takes.
#pragma once

#include "bindings/python_types.hpp"
#include "session/step.hpp"

namespace spillway::bindings {

/// A request as a struct of `spillway.protocol.messages`.
nb::object request_object(const Request& request);

/// A step as `spillway.schedulers.core.execution.Step`. `machine` names hosts in reasons.
nb::object step_object(const Step& step, nb::handle machine);

}  // namespace spillway::bindings
