#include "search/filling.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using Demands = nb::ndarray<const std::int64_t, nb::shape<-1, 6>, nb::c_contig, nb::device::cpu>;
using Spans = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Order = nb::ndarray<std::int64_t, nb::shape<-1>, nb::c_contig, nb::device::cpu>;

void make(Filling* self, const Timeline& timeline, const Demands& demands, const Spans& spans,
          bool nodes_first) {
  std::vector<FillJob> jobs;
  for (std::size_t job = 0; job < demands.shape(0); job++) {
    jobs.push_back({reinterpret_cast<const JobDemand*>(demands.data())[job], spans.data()[2 * job],
                    spans.data()[2 * job + 1]});
  }
  new (self) Filling(timeline, std::move(jobs), nodes_first);
}

nb::tuple climb(Filling& self, const Order& order, std::int64_t budget) {
  Filling::Order best(order.data(), order.data() + order.shape(0));
  Filling::Score score;
  const auto [steps, last] = self.climb(best, budget, score);
  std::copy(best.begin(), best.end(), order.data());
  return nb::make_tuple(steps, last, score);
}

}  // namespace

void bind_filling(nb::module_& module) {
  nb::class_<Filling>(module, "FillSearch")
      .def("__init__", &make, nb::arg("timeline"), nb::arg("demands"), nb::arg("spans"),
           nb::arg("nodes_first"))
      .def_prop_ro("never_fits", &Filling::never_fits)
      .def("climb", &climb, nb::arg("order"), nb::arg("budget"));
  module.def("narrow_points", &narrow_points, nb::arg("timeline"));
}

}  // namespace spillway::bindings
