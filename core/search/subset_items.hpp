#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/subset.hpp"

namespace spillway {

/// Sums over sets of the items from `depth` on with so many units in all.
class SubsetTables {
 public:
  SubsetTables() = default;
  SubsetTables(const SubsetProblem& items, const std::vector<bool>& must, std::int64_t free,
               std::int64_t most_cells);

  /// Whether there is a set; then its least and largest possible sum of sizes.
  bool reached(std::size_t depth, std::int64_t units) const { return most_[at(depth, units)] >= 0; }
  std::int64_t least(std::size_t depth, std::int64_t units) const {
    return least_[at(depth, units)];
  }
  std::int64_t most(std::size_t depth, std::int64_t units) const { return most_[at(depth, units)]; }

  /// Whether sums of waits are known.
  bool has_waits() const { return !waits_.empty(); }
  /// With a number of items, the largest sum of waits; minus infinity where there is no such set.
  double wait_sum(std::size_t depth, std::int64_t units, std::size_t number) const {
    return waits_[at(depth, units) * (items_ + 1) + number];
  }

 private:
  std::size_t at(std::size_t depth, std::int64_t units) const {
    return depth * width_ + static_cast<std::size_t>(units);
  }
  void add_item(std::size_t depth, std::size_t units, std::int64_t total, bool must);
  void add_waits(std::size_t depth, std::size_t units, double wait, bool must);

  std::size_t items_ = 0;
  std::size_t width_ = 0;  // free units + 1
  Amounts least_, most_;
  std::vector<double> waits_;
};

/// A problem's items in the order of a search: largest size first, without those that cannot be
/// chosen.
struct SubsetItems {
  SubsetItems(const SubsetProblem& problem, std::int64_t most_table_cells);

  std::size_t count() const { return order.size(); }
  std::size_t bins() const { return sorted.capacities.size(); }
  /// Sum of the sizes of an item's units.
  std::int64_t total(std::size_t item) const { return sorted.units[item] * sorted.sizes[item]; }
  /// Score of a set, its waits added up in the order of the search.
  SubsetScore score(const std::vector<bool>& took) const;

  std::vector<std::size_t> order;  // numbers of the items in the problem
  SubsetProblem sorted;            // the problem of these items in this order, without `mandatory`
  std::vector<bool> must;
  std::int64_t free = 0;      // free units, at most those of all items
  std::int64_t capacity = 0;  // of the bins that can hold any unit at all
  SubsetTables tables;
};

}  // namespace spillway
