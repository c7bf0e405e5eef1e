#include <nanobind/nanobind.h>

#include <cmath>
#include <tuple>

#include "bindings/bindings.hpp"
#include "bindings/values.hpp"
#include "model/job.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

void make(Lives* self, double storage_lead_s, double storage_tail_s, double bandwidth_tail_s) {
  if (!(storage_lead_s >= 0 && storage_lead_s < NEVER)) {
    refuse("lives", "storage_lead_s", "at least 0 and finite", storage_lead_s);
  }
  if (!std::isfinite(storage_tail_s)) refuse("lives", "storage_tail_s", "finite", storage_tail_s);
  if (!std::isfinite(bandwidth_tail_s)) {
    refuse("lives", "bandwidth_tail_s", "finite", bandwidth_tail_s);
  }
  new (self) Lives{storage_lead_s, storage_tail_s, bandwidth_tail_s};
}

nb::tuple fields(const Lives& lives) {
  return nb::make_tuple(lives.storage_lead_s, lives.storage_tail_s, lives.bandwidth_tail_s);
}

nb::object equal(const Lives& lives, nb::handle other) {
  if (!nb::isinstance<Lives>(other)) return nb::borrow(Py_NotImplemented);
  return nb::bool_(lives == nb::cast<const Lives&>(other));
}

Lives staged(const Lives& lives) { return {0.0, lives.storage_tail_s, lives.bandwidth_tail_s}; }

}  // namespace

void bind_lives(nb::module_& module) {
  nb::class_<Lives>(module, "Lives")
      .def("__init__", &make, nb::arg("storage_lead_s") = 0.0, nb::arg("storage_tail_s") = 0.0,
           nb::arg("bandwidth_tail_s") = 0.0)
      .def_ro("storage_lead_s", &Lives::storage_lead_s)
      .def_ro("storage_tail_s", &Lives::storage_tail_s)
      .def_ro("bandwidth_tail_s", &Lives::bandwidth_tail_s)
      .def("staged", &staged)
      .def("__eq__", &equal, nb::arg("other").none())
      .def("__hash__", [](const Lives& lives) { return nb::hash(fields(lives)); })
      .def(
          "__repr__",
          [](const Lives& lives) {
            return nb::str("Lives(storage_lead_s={!r}, storage_tail_s={!r}, bandwidth_tail_s={!r})")
                .format(lives.storage_lead_s, lives.storage_tail_s, lives.bandwidth_tail_s);
          })
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), fields(nb::cast<const Lives&>(self)));
      });
}

}  // namespace spillway::bindings
