#include "search/subset_items.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace spillway {
namespace {

constexpr std::int64_t NO_SET = std::numeric_limits<std::int64_t>::max() / 4;
constexpr double NO_SUM = -std::numeric_limits<double>::infinity();

/// Whether an item fits by itself.
bool possible(const SubsetProblem& problem, std::size_t item) {
  if (problem.units[item] > problem.free_units) return false;
  for (std::size_t limit = 0; limit < problem.loads.size(); ++limit) {
    if (problem.loads[limit][item] > problem.load_limits[limit]) return false;
  }
  const std::int64_t size = problem.sizes[item];
  if (size == 0) return true;
  std::int64_t places = 0;
  for (const std::int64_t capacity : problem.capacities) places += capacity / size;
  return places >= problem.units[item];
}

template <class Value>
std::vector<Value> picked(const std::vector<Value>& values, const std::vector<std::size_t>& order) {
  std::vector<Value> found;
  found.reserve(order.size());
  for (const std::size_t place : order) found.push_back(values[place]);
  return found;
}

}  // namespace

SubsetTables::SubsetTables(const SubsetProblem& items, const std::vector<bool>& must,
                           std::int64_t free, std::int64_t most_cells)
    : items_(items.units.size()), width_(static_cast<std::size_t>(free) + 1) {
  least_.assign((items_ + 1) * width_, NO_SET);
  most_.assign((items_ + 1) * width_, -1);
  least_[items_ * width_] = 0;
  most_[items_ * width_] = 0;
  const std::size_t cells = (items_ + 1) * (items_ + 1) * width_;
  if (items_ > 0 && cells <= static_cast<std::size_t>(std::max<std::int64_t>(most_cells, 0))) {
    waits_.assign(cells, NO_SUM);
    waits_[items_ * width_ * (items_ + 1)] = 0.0;
  }
  for (std::size_t depth = items_; depth-- > 0;) {
    const std::size_t units = static_cast<std::size_t>(items.units[depth]);
    add_item(depth, units, items.units[depth] * items.sizes[depth], must[depth]);
    if (has_waits()) add_waits(depth, units, items.waits[depth], must[depth]);
  }
}

/// Sums of sizes of the sets from one item on, from those of the sets behind it.
void SubsetTables::add_item(std::size_t depth, std::size_t units, std::int64_t total, bool must) {
  const std::int64_t* least_behind = &least_[(depth + 1) * width_];
  const std::int64_t* most_behind = &most_[(depth + 1) * width_];
  std::int64_t* least = &least_[depth * width_];
  std::int64_t* most = &most_[depth * width_];
  if (!must) {
    std::copy_n(least_behind, width_, least);
    std::copy_n(most_behind, width_, most);
  }
  for (std::size_t sum = units; sum < width_; ++sum) {
    const std::size_t rest = sum - units;
    least[sum] = std::min(least[sum], std::min(least_behind[rest] + total, NO_SET));
    if (most_behind[rest] >= 0) most[sum] = std::max(most[sum], most_behind[rest] + total);
  }
}

/// The same for sums of waits.
void SubsetTables::add_waits(std::size_t depth, std::size_t units, double wait, bool must) {
  const std::size_t numbers = items_ + 1, row = width_ * numbers;
  const double* behind = &waits_[(depth + 1) * row];
  double* sums = &waits_[depth * row];
  if (!must) std::copy_n(behind, row, sums);
  for (std::size_t sum = units; sum < width_; ++sum) {
    const double* rest = behind + (sum - units) * numbers;
    double* here = sums + sum * numbers;
    for (std::size_t number = 1; number < numbers; ++number) {
      here[number] = std::max(here[number], rest[number - 1] + wait);
    }
  }
}

SubsetItems::SubsetItems(const SubsetProblem& problem, std::int64_t most_table_cells) {
  std::vector<bool> mandatory(problem.units.size());
  for (const std::size_t item : problem.mandatory) mandatory[item] = true;
  for (std::size_t item = 0; item < problem.units.size(); ++item) {
    if (mandatory[item] || possible(problem, item)) order.push_back(item);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    if (problem.sizes[one] != problem.sizes[other]) {
      return problem.sizes[one] > problem.sizes[other];
    }
    return problem.units[one] > problem.units[other];
  });
  sorted.units = picked(problem.units, order);
  sorted.sizes = picked(problem.sizes, order);
  sorted.waits = picked(problem.waits, order);
  for (const Amounts& load : problem.loads) sorted.loads.push_back(picked(load, order));
  sorted.load_limits = problem.load_limits;
  sorted.capacities = problem.capacities;
  sorted.free_units = problem.free_units;
  sorted.units_first = problem.units_first;
  must = picked(mandatory, order);
  const std::int64_t all =
      std::accumulate(sorted.units.begin(), sorted.units.end(), std::int64_t{0});
  free = std::max(std::int64_t{0}, std::min(problem.free_units, all));
  std::int64_t smallest = 0;
  for (const std::int64_t size : sorted.sizes) {
    if (size > 0) smallest = size;  // sizes fall
  }
  for (const std::int64_t one : problem.capacities) capacity += one >= smallest ? one : 0;
  tables = SubsetTables(sorted, must, free, most_table_cells);
}

SubsetScore SubsetItems::score(const std::vector<bool>& took) const {
  std::int64_t units = 0, size = 0, number = 0;
  double waits = 0.0;
  for (std::size_t item = 0; item < count(); ++item) {
    if (!took[item]) continue;
    units += sorted.units[item];
    size += total(item);
    waits += sorted.waits[item];
    ++number;
  }
  const double mean = number > 0 ? waits / static_cast<double>(number) : 0.0;
  const double first = static_cast<double>(sorted.units_first ? units : size);
  return {first, static_cast<double>(sorted.units_first ? size : units), mean};
}

}  // namespace spillway
