#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "engines/engine.hpp"
#include "engines/fixed.hpp"
#include "engines/fluid.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using Handles = std::vector<Handle>;

Handle start(Engine& engine, std::vector<std::int32_t> hosts, std::vector<double> flops,
             double each, const std::vector<std::size_t>& sources,
             const std::vector<std::size_t>& destinations, const std::vector<double>& amounts) {
  Task task;
  for (std::size_t at = 0; at < amounts.size(); ++at)
    task.flows.push_back({hosts[sources[at]], hosts[destinations[at]], amounts[at]});
  task.hosts = std::move(hosts);
  task.flops = std::move(flops);
  task.bytes_each_pair = each;
  return engine.start(task);
}

Handles advance(Engine& engine, double until_s) {
  Handles ended;
  engine.advance(until_s, ended);
  return ended;
}

}  // namespace

void bind_engines(nb::module_& module) {
  nb::class_<Engine>(module, "Engine")
      .def_prop_ro("clock", &Engine::clock_s)
      .def_prop_ro("ends_at_once", &Engine::ends_at_once)
      .def_prop_ro("active", &Engine::active)
      .def("start", &start, nb::arg("hosts"), nb::arg("flops"), nb::arg("each"), nb::arg("sources"),
           nb::arg("destinations"), nb::arg("amounts"))
      .def("sleep", &Engine::sleep, nb::arg("seconds"))
      .def("cancel", &Engine::cancel, nb::arg("handle"))
      .def("progress", &Engine::progress, nb::arg("handle"))
      .def("next_completion", &Engine::next_completion)
      .def("advance", &advance, nb::arg("until"))
      .def("change_speed", &Engine::change_speed, nb::arg("host"), nb::arg("speed"))
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](nb::handle, const nb::args&) {});

  nb::class_<FixedEngine, Engine>(module, "FixedEngine")
      .def(nb::init<std::vector<double>>(), nb::arg("speeds"));

  nb::class_<FluidEngine, Engine>(module, "FluidEngine")
      .def(nb::init<std::shared_ptr<Network>>(), nb::arg("network"))
      .def("rate", &FluidEngine::rate, nb::arg("handle"))
      .def("check", &FluidEngine::check);
}

}  // namespace spillway::bindings
