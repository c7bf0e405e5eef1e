#include "search/subset_greedy.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace spillway {
namespace {

using Order = std::vector<std::size_t>;

/// Numbers of units near the most for which paths of the tables are tried.
constexpr std::size_t MOST_PATHS = 3;

Order in_order(std::size_t count) {
  Order order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

/// Items by a rising key, equals in their order.
template <class Key>
Order by(const SubsetItems& items, Key key) {
  Order order = in_order(items.count());
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return key(one) < key(other); });
  return order;
}

/// The items of the set behind a table's sum with `units` units, then the others.
template <class Sum>
Order along(const SubsetItems& items, std::int64_t units, Sum sum) {
  Order path, others;
  for (std::size_t item = 0; item < items.count(); ++item) {
    if (sum(item, units) != sum(item + 1, units)) {
      path.push_back(item);
      units -= items.sorted.units[item];
    } else {
      others.push_back(item);
    }
  }
  path.insert(path.end(), others.begin(), others.end());
  return path;
}

std::vector<Order> orders_of(const SubsetItems& items) {
  const SubsetProblem& sorted = items.sorted;
  const SubsetTables& tables = items.tables;
  std::vector<Order> orders{
      by(items, [&](std::size_t item) { return sorted.sizes[item]; }),
      by(items, [&](std::size_t item) { return -sorted.sizes[item]; }),
      by(items, [&](std::size_t item) { return sorted.units[item]; }),
      by(items, [&](std::size_t item) { return -sorted.units[item]; }),
      by(items, [&](std::size_t item) { return items.total(item); }),
      by(items, [&](std::size_t item) { return -items.total(item); }),
      by(items, [&](std::size_t item) { return -sorted.waits[item]; }),
  };
  std::size_t paths = 0;
  for (std::int64_t units = items.free; units >= 0 && paths < MOST_PATHS; --units) {
    if (!tables.reached(0, units) || tables.least(0, units) > items.capacity) continue;
    ++paths;
    orders.push_back(along(items, units, [&](std::size_t depth, std::int64_t sum) {
      return tables.least(depth, sum);
    }));
    orders.push_back(along(items, units, [&](std::size_t depth, std::int64_t sum) {
      return tables.most(depth, sum);
    }));
  }
  return orders;
}

/// Take the items that fit, in an order, mandatory items first; nothing when one of these does not
/// fit.
std::optional<TakenSet> filled(const SubsetItems& items, Order order) {
  const SubsetProblem& sorted = items.sorted;
  const std::size_t bins = items.bins();
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t item) { return items.must[item]; });
  TakenSet set{NO_SCORE, std::vector<bool>(items.count()), Amounts(items.count() * bins)};
  Amounts capacities = sorted.capacities, left = sorted.load_limits, trial, row(bins);
  std::int64_t free = items.free;
  for (const std::size_t item : order) {
    bool fits = sorted.units[item] <= free;
    for (std::size_t limit = 0; limit < left.size(); ++limit) {
      fits = fits && sorted.loads[limit][item] <= left[limit];
    }
    trial = capacities;
    const bool sized = sorted.sizes[item] > 0;
    if (fits && sized)
      fits = tightest_fit(sorted.units[item], sorted.sizes[item], trial, row.data());
    if (!fits) {
      if (items.must[item]) return std::nullopt;
      continue;
    }
    set.took[item] = true;
    if (sized) std::copy_n(row.begin(), bins, &set.taken[item * bins]);
    capacities.swap(trial);
    free -= sorted.units[item];
    for (std::size_t limit = 0; limit < left.size(); ++limit)
      left[limit] -= sorted.loads[limit][item];
  }
  set.score = items.score(set.took);
  return set;
}

}  // namespace

TakenSet greedy_set(const SubsetItems& items) {
  TakenSet best{NO_SCORE, std::vector<bool>(items.count()), Amounts(items.count() * items.bins())};
  for (Order& order : orders_of(items)) {
    std::optional<TakenSet> found = filled(items, std::move(order));
    if (found && found->score > best.score) best = std::move(*found);
  }
  return best;
}

}  // namespace spillway
