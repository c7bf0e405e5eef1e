#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "session/runtime.hpp"

namespace spillway::bindings {

/// What a session calls for a runtime of Python: its native part (attribute `core`), or the runtime
/// itself, written in Python (`spillway.schedulers.core.execution.Runtime`).
std::shared_ptr<Runtime> native_runtime(nanobind::handle runtime);

}  // namespace spillway::bindings
