#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "bindings/batch.hpp"
#include "bindings/bindings.hpp"
#include "engines/engine.hpp"
#include "engines/fixed.hpp"
#include "engines/fluid.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using Handles = std::vector<Handle>;

Handles start_many(Engine& engine, const Batch& batch) {
  Handles handles;
  Task task;
  for (std::size_t number = 0; number < batch.size(); ++number) {
    batch.fill(number, task);
    handles.push_back(engine.start(task));
  }
  return handles;
}

Handles advance(Engine& engine, double until_s) {
  Handles ended;
  engine.advance(until_s, ended);
  return ended;
}

}  // namespace

void bind_engines(nb::module_& module) {
  nb::class_<Batch>(module, "Batch")
      .def(nb::init<std::vector<std::int32_t>, std::vector<std::size_t>, std::vector<double>,
                    std::vector<double>, std::vector<std::size_t>, std::vector<std::int32_t>,
                    std::vector<std::int32_t>, std::vector<double>>(),
           nb::arg("hosts"), nb::arg("ends"), nb::arg("work"), nb::arg("each"),
           nb::arg("pair_ends"), nb::arg("sources"), nb::arg("destinations"), nb::arg("amounts"));

  nb::class_<Engine>(module, "Engine")
      .def_prop_ro("clock_s", &Engine::clock_s)
      .def_prop_ro("ends_at_once", &Engine::ends_at_once)
      .def_prop_ro("active", &Engine::active)
      .def("start_many", &start_many, nb::arg("tasks"))
      .def("sleep", &Engine::sleep, nb::arg("seconds"))
      .def("cancel", &Engine::cancel, nb::arg("handle"))
      .def("progress", &Engine::progress, nb::arg("handle"))
      .def("next_completion", &Engine::next_completion)
      .def("advance", &advance, nb::arg("until_s"))
      .def("change_speed", &Engine::change_speed, nb::arg("host"), nb::arg("speed"));

  nb::class_<FixedEngine, Engine>(module, "FixedEngine")
      .def(nb::init<std::vector<double>>(), nb::arg("speeds"));

  nb::class_<FluidEngine, Engine>(module, "FluidEngine")
      .def(nb::init<std::shared_ptr<Network>>(), nb::arg("network"))
      .def("rate", &FluidEngine::rate, nb::arg("handle"))
      .def("check", &FluidEngine::check);
}

}  // namespace spillway::bindings
