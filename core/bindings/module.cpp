#include "bindings/bindings.hpp"
#include "source_digest.hpp"

NB_MODULE(_native, module) {
  // Caches of Python's typing module hold classes until the process ends; nothing else is left.
  nanobind::set_leak_warnings(false);
  module.attr("SOURCE_DIGEST") = SPILLWAY_SOURCE_DIGEST;
  spillway::bindings::bind_lives(module);
  spillway::bindings::bind_allocation(module);
  spillway::bindings::bind_job(module);
  spillway::bindings::bind_engines(module);
  spillway::bindings::bind_gang(module);
  spillway::bindings::bind_packing(module);
  spillway::bindings::bind_subset(module);
}
