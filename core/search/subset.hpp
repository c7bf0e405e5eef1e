#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "search/packing.hpp"

namespace spillway {

/// A choice among items: the set with the best score that keeps within all limits.
///
/// An item needs units (nodes), each with a size (burst-buffer bytes) that one bin (storage node)
/// must hold whole. Kopanski, master's thesis 2020, section 3.3 (Algorithm 7, equations 3.1-3.3).
struct SubsetProblem {
  Amounts units;                       // of each item, at least 1
  Amounts sizes;                       // of one unit, at least 0; 0 needs no bin
  std::vector<double> waits;           // time that each item has waited: breaks ties of the score
  std::int64_t free_units = 0;         // units of a set, at most
  Amounts capacities;                  // of each bin
  bool units_first = true;             // whether units or sizes come first in the score
  std::vector<std::size_t> mandatory;  // items that every set must contain
  std::vector<Amounts> loads;  // further limits: the loads of all chosen items add up to ...
  Amounts load_limits;         // ... at most this
};

/// Limits on the work of a choice.
struct SubsetBudget {
  std::int64_t steps = 0;        // sets evaluated and steps of packing
  std::int64_t pack_steps = 0;   // steps of packing one set, after which it is left undecided
  std::int64_t table_cells = 0;  // largest table of sums of waits; without it their bound is weaker
};

/// Score of a set, compared from the left, more is better: units and sum of sizes (or the other way
/// round), and mean wait.
using SubsetScore = std::array<double, 3>;

/// Less than the score of any set.
constexpr SubsetScore NO_SCORE{-1.0, -1.0, -1.0};

/// A set of a problem's items, and its packing: units of each item in each bin, item by item.
struct PackedSet {
  std::vector<std::size_t> items;
  Amounts taken;
};

/// The best set found.
struct SubsetChoice {
  std::size_t bins = 0;  // of the problem
  std::optional<PackedSet>
      best;  // items ascending; none when the mandatory items do not fit together
  std::optional<SubsetScore> bound;  // no set can have a score above this; none: there is no set
  bool proven = false;               // whether the set is proven best, or proven not to exist
  std::int64_t steps = 0;
};

/// A second method's answer for a set.
struct Settlement {
  Fits verdict = Fits::UNDECIDED;
  Amounts taken;  // the packing where it is YES
};

/// A second method to find whether a set of a problem's items, in the given order, can be packed.
using Settle = std::function<Settlement(const std::vector<std::size_t>&)>;

/// Find the best set of items that fit together: exact, with a bound on what is left when the
/// budget is used up.
///
/// Items are taken or left out one by one, largest size first. A branch is cut when even its bound
/// cannot beat the best set known; the bound treats all bins as one, and is exact in units (tables
/// over all sums of units). After each item taken, `Packer` decides whether the set fits; a set
/// that does not fit cuts its whole branch. The search begins with good sets from several greedy
/// fillings, so that mostly only a proof remains.
///
/// @param settle decides sets that the packing search left undecided, the most promising first; may
/// be empty
SubsetChoice branch_and_bound(const SubsetProblem& problem, const SubsetBudget& budget,
                              const Settle& settle);

}  // namespace spillway
