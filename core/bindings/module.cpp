#include "bindings/bindings.hpp"
#include "source_digest.hpp"

NB_MODULE(_native, module) {
  module.attr("SOURCE_DIGEST") = SPILLWAY_SOURCE_DIGEST;
  spillway::bindings::bind_engines(module);
  spillway::bindings::bind_packing(module);
  spillway::bindings::bind_subset(module);
}
