#include <nanobind/nanobind.h>

#include "bindings/bindings.hpp"
#include "bindings/python_types.hpp"
#include "session/gate.hpp"

namespace spillway::bindings {

namespace {

constexpr const char* ORDERS[] = {"FIFO", "SHORTEST", "STARVED", "STRETCH"};

IoOrder order_of(nb::handle object) {
  static Members<4> members("spillway.schedulers.jobmodels.gates", "IoOrder", ORDERS);
  if (object.is_none()) return IoOrder::FIFO;
  const std::size_t place = members.place(object);
  if (place == 4) throw nb::type_error("expected an IoOrder");
  return static_cast<IoOrder>(place);
}

}  // namespace

void bind_gates(nb::module_& module) {
  nb::class_<Gate>(module, "Gate");
  nb::class_<SharedGate, Gate>(module, "Shared").def(nb::init<>());
  nb::class_<ExclusiveGate, Gate>(module, "Exclusive")
      .def(
          "__init__",
          [](ExclusiveGate* self, nb::handle order) { new (self) ExclusiveGate(order_of(order)); },
          nb::arg("order") = nb::none());
}

}  // namespace spillway::bindings
