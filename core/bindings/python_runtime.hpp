#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "session/runtime.hpp"

namespace spillway::bindings {

/// What a session calls for a runtime of Python: the native part of a
/// `spillway.core.ProgramRuntime`, or else `python_runtime`.
std::shared_ptr<Runtime> runtime_of(nanobind::handle runtime);

/// A runtime written in Python (`spillway.schedulers.jobmodels.time_sharing_runtime.TimeShared`).
std::shared_ptr<Runtime> python_runtime(nanobind::handle runtime);

}  // namespace spillway::bindings
