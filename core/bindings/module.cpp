#include "bindings/bindings.hpp"
#include "model/precision.hpp"
#include "source_digest.hpp"

NB_MODULE(_native, module) {
  // Caches of Python's typing module hold classes until the process ends, and commands freeze their
  // objects for the collector: some are left by intention.
  nanobind::set_leak_warnings(false);
  module.def("set_leak_warnings", &nanobind::set_leak_warnings, nanobind::arg("on"));
  module.attr("TCP_WINDOW") = spillway::TCP_WINDOW;
  module.attr("SOURCE_DIGEST") = SPILLWAY_SOURCE_DIGEST;
  spillway::bindings::bind_lives(module);
  spillway::bindings::bind_allocation(module);
  spillway::bindings::bind_job(module);
  spillway::bindings::bind_network(module);
  spillway::bindings::bind_timeline(module);
  spillway::bindings::bind_pass_steps(module);
  spillway::bindings::bind_filling(module);
  spillway::bindings::bind_node_space(module);
  spillway::bindings::bind_plan(module);
  spillway::bindings::bind_engines(module);
  spillway::bindings::bind_waterfill(module);
  spillway::bindings::bind_workload_rows(module);
  spillway::bindings::bind_gang(module);
  spillway::bindings::bind_packing(module);
  spillway::bindings::bind_subset(module);
  spillway::bindings::bind_gates(module);
  spillway::bindings::bind_operations(module);
  spillway::bindings::bind_runtime(module);
  spillway::bindings::bind_faults(module);
  spillway::bindings::bind_simulated_jobs(module);
  spillway::bindings::bind_machines(module);
  spillway::bindings::bind_loop(module);
  spillway::bindings::bind_book(module);
  spillway::bindings::bind_queue(module);
  spillway::bindings::bind_session(module);
  spillway::bindings::bind_stopwatch(module);
  spillway::bindings::bind_reading(module);
}
