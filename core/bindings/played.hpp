#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "session/runtime.hpp"

namespace spillway::bindings {

/// The runtime of a `spillway.core.ProgramRuntime`.
std::shared_ptr<Runtime> played(nanobind::handle object);

}  // namespace spillway::bindings
