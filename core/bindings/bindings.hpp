#pragma once

#include <nanobind/nanobind.h>

namespace spillway::bindings {

/// Each adds its objects to the module `spillway.core._native`.
void bind_allocation(nanobind::module_& module);
void bind_book(nanobind::module_& module);
void bind_engines(nanobind::module_& module);
void bind_faults(nanobind::module_& module);
void bind_filling(nanobind::module_& module);
void bind_gang(nanobind::module_& module);
void bind_gates(nanobind::module_& module);
void bind_job(nanobind::module_& module);
void bind_lives(nanobind::module_& module);
void bind_loop(nanobind::module_& module);
void bind_machines(nanobind::module_& module);
void bind_network(nanobind::module_& module);
void bind_node_space(nanobind::module_& module);
void bind_operations(nanobind::module_& module);
void bind_packing(nanobind::module_& module);
void bind_pass_steps(nanobind::module_& module);
void bind_plan(nanobind::module_& module);
void bind_queue(nanobind::module_& module);
void bind_reading(nanobind::module_& module);
void bind_runtime(nanobind::module_& module);
void bind_session(nanobind::module_& module);
void bind_simulated_jobs(nanobind::module_& module);
void bind_stopwatch(nanobind::module_& module);
void bind_subset(nanobind::module_& module);
void bind_timeline(nanobind::module_& module);
void bind_waterfill(nanobind::module_& module);
void bind_workload_rows(nanobind::module_& module);

}  // namespace spillway::bindings
