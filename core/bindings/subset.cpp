#include "search/subset.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using Items = std::vector<std::size_t>;
using Score = std::tuple<double, double, double>;
using Answer = std::function<std::pair<int, Amounts>(const Items&)>;

void check(const SubsetProblem& problem) {
  const std::size_t items = problem.units.size();
  bool good = problem.sizes.size() == items && problem.waits.size() == items &&
              problem.loads.size() == problem.load_limits.size();
  for (const Amounts& load : problem.loads) good = good && load.size() == items;
  for (const std::size_t item : problem.mandatory) good = good && item < items;
  for (const std::int64_t units : problem.units) good = good && units >= 0;
  if (!good)
    throw nb::value_error("a problem has units of at least 0 and as many sizes, waits and loads");
}

/// The second method as the search calls it; its packings have a row for each item of the set.
Settle settle_of(const Answer& answer, std::size_t bins) {
  if (!answer) return {};
  return [&answer, bins](const Items& chosen) {
    auto [verdict, taken] = answer(chosen);
    if (verdict == static_cast<int>(Fits::YES) && taken.size() != chosen.size() * bins) {
      throw nb::value_error("a packing has one number for each item and bin");
    }
    return Settlement{static_cast<Fits>(verdict), std::move(taken)};
  };
}

SubsetChoice choose(Amounts units, Amounts sizes, std::vector<double> waits,
                    std::int64_t free_units, Amounts capacities, bool units_first, Items mandatory,
                    std::vector<Amounts> loads, Amounts load_limits, std::int64_t steps,
                    std::int64_t pack_steps, std::int64_t table_cells,
                    const std::optional<Answer>& settle) {
  const std::size_t bins = capacities.size();
  const SubsetProblem problem{std::move(units),     std::move(sizes),      std::move(waits),
                              free_units,           std::move(capacities), units_first,
                              std::move(mandatory), std::move(loads),      std::move(load_limits)};
  check(problem);
  const Settle second = settle ? settle_of(*settle, bins) : Settle{};
  const nb::gil_scoped_release others_run;
  return branch_and_bound(problem, {steps, pack_steps, table_cells}, second);
}

std::optional<Items> chosen(const SubsetChoice& choice) {
  return choice.best ? std::optional(choice.best->items) : std::nullopt;
}

IntTable taken(const SubsetChoice& choice) {
  if (!choice.best) return int_table({}, 0, choice.bins);
  return int_table(choice.best->taken, choice.best->items.size(), choice.bins);
}

std::optional<Score> bound(const SubsetChoice& choice) {
  if (!choice.bound) return std::nullopt;
  return Score{(*choice.bound)[0], (*choice.bound)[1], (*choice.bound)[2]};
}

}  // namespace

void bind_subset(nb::module_& module) {
  nb::class_<SubsetChoice>(module, "SubsetChoice")
      .def_prop_ro("chosen", &chosen)
      .def_prop_ro("taken", &taken, nb::rv_policy::automatic)
      .def_prop_ro("bound", &bound)
      .def_ro("proven", &SubsetChoice::proven)
      .def_ro("steps", &SubsetChoice::steps);
  module.def("branch_and_bound", &choose, nb::arg("units"), nb::arg("sizes"), nb::arg("waits"),
             nb::arg("free_units"), nb::arg("capacities"), nb::arg("units_first"),
             nb::arg("mandatory"), nb::arg("loads"), nb::arg("load_limits"), nb::arg("steps"),
             nb::arg("pack_steps"), nb::arg("table_cells"), nb::arg("settle").none());
}

}  // namespace spillway::bindings
