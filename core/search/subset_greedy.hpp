#pragma once

#include <vector>

#include "search/subset_items.hpp"

namespace spillway {

/// A set of the search's items: its score, the items taken, and their packing.
struct TakenSet {
  SubsetScore score = NO_SCORE;
  std::vector<bool> took;
  Amounts taken;  // units of each item in each bin, item by item
};

/// The best of the sets from greedy fillings in several orders: by one property of the items, and
/// along the tables' best sums. The first of equals; `NO_SCORE` where mandatory items fit in none
/// of them.
TakenSet greedy_set(const SubsetItems& items);

}  // namespace spillway
