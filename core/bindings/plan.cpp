#include "search/plan.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using Demands = nb::ndarray<const std::int64_t, nb::shape<-1, 6>, nb::c_contig, nb::device::cpu>;
using Spans = nb::ndarray<const double, nb::shape<-1, 7>, nb::c_contig, nb::device::cpu>;
using Positions = nb::ndarray<const std::int32_t, nb::shape<-1>, nb::c_contig, nb::device::cpu>;

Order order_of(const Positions& order) {
  return Order(order.data(), order.data() + order.shape(0));
}

void make(Planner* self, const Timeline& timeline, const Demands& demands, const Spans& spans,
          bool latest, double alpha, double guard_s, double guard_power, std::int64_t stride) {
  std::vector<PlanJob> jobs;
  for (std::size_t job = 0; job < demands.shape(0); job++) {
    const double* row = spans.data() + 7 * job;
    PlanJob one;
    one.demand = reinterpret_cast<const JobDemand*>(demands.data())[job];
    one.submit_s = row[1];
    one.weight = row[2];
    one.apart = row[3] > 0;
    one.span = {row[0], row[4], row[5], row[6]};
    jobs.push_back(one);
  }
  new (self) Planner(timeline, std::move(jobs), {latest, alpha, guard_s, guard_power}, stride);
}

}  // namespace

void bind_plan(nb::module_& module) {
  nb::class_<Planner>(module, "PlanSearch")
      .def("__init__", &make, nb::arg("timeline"), nb::arg("demands"), nb::arg("spans"),
           nb::arg("latest"), nb::arg("alpha"), nb::arg("guard_s"), nb::arg("guard_power"),
           nb::arg("stride"))
      .def_prop_ro("starts_s", [](const Planner& self) { return array_of(self.starts_s()); })
      .def_prop_ro("least", [](const Planner& self) { return array_of(self.least()); })
      .def_prop_ro("alone_s", [](const Planner& self) { return array_of(self.alone()); })
      .def(
          "score",
          [](Planner& self, const Positions& order) { return self.score(order_of(order)); },
          nb::arg("order"))
      .def(
          "backfilled",
          [](const Planner& self, const Positions& order) {
            return array_of(self.backfilled(order_of(order)));
          },
          nb::arg("order"))
      .def(
          "begin",
          [](Planner& self, const Positions& order, double score, std::uint64_t seed,
             double temperature, double cooling, std::int64_t period, double coolest,
             bool swaps_only, bool delayed_only) {
            self.begin(order_of(order), score,
                       {0, temperature, cooling, period, coolest, swaps_only, delayed_only}, seed);
          },
          nb::arg("order"), nb::arg("score"), nb::arg("seed"), nb::arg("temperature"),
          nb::arg("cooling"), nb::arg("period"), nb::arg("coolest"), nb::arg("swaps_only"),
          nb::arg("delayed_only"))
      .def("anneal", &Planner::anneal, nb::arg("end"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("best", [](const Planner& self) { return array_of(self.best()); })
      .def_prop_ro("best_score", &Planner::best_score);

  module.def(
      "demand_keys",
      [](const std::vector<std::vector<std::int64_t>>& parts) {
        DemandKeys keys = demand_keys(parts);
        return nb::make_tuple(keys.below, keys.above, keys.guards, keys.nothing);
      },
      nb::arg("parts"));
  module.def(
      "easy_starts",
      [](const std::vector<double>& times,
         const std::vector<std::pair<std::int64_t, std::int64_t>>& free, const Order& waiting,
         const std::vector<std::pair<std::int64_t, std::int64_t>>& demands,
         const std::vector<double>& durations_s) {
        std::vector<TotalsDemand> left, wanted;
        for (const auto& [nodes, bytes] : free) left.push_back({nodes, bytes, 0.0});
        for (std::size_t job = 0; job < demands.size(); job++) {
          wanted.push_back({demands[job].first, demands[job].second, durations_s[job]});
        }
        return easy_starts(times, left, waiting, wanted);
      },
      nb::arg("times"), nb::arg("free"), nb::arg("waiting"), nb::arg("demands"),
      nb::arg("durations_s"));
}

}  // namespace spillway::bindings
