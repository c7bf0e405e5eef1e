#include "search/packing.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

std::tuple<int, IntTable, std::int64_t> pack(Packer& packer, const Amounts& units,
                                             const Amounts& sizes, const Amounts& capacities,
                                             std::int64_t budget) {
  if (units.size() != sizes.size()) throw nb::value_error("as many sizes as units are needed");
  Amounts taken;
  PackingAnswer answer;
  {
    const nb::gil_scoped_release others_run;
    answer = packer.pack(units, sizes, capacities, budget, taken);
  }
  return {static_cast<int>(answer.verdict),
          int_table(std::move(taken), units.size(), capacities.size()), answer.steps};
}

}  // namespace

void bind_packing(nb::module_& module) {
  nb::class_<Packer>(module, "Packer")
      .def(nb::init<>())
      .def("pack", &pack, nb::arg("units"), nb::arg("sizes"), nb::arg("capacities"),
           nb::arg("budget"));
}

}  // namespace spillway::bindings
