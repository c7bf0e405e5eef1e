#include "search/subset.hpp"

#include <algorithm>

#include "search/subset_branching.hpp"
#include "search/subset_greedy.hpp"
#include "search/subset_items.hpp"

namespace spillway {
namespace {

std::vector<std::size_t> chosen_of(const SubsetItems& items, const std::vector<bool>& took) {
  std::vector<std::size_t> chosen;
  for (std::size_t item = 0; item < items.count(); ++item) {
    if (took[item]) chosen.push_back(items.order[item]);
  }
  return chosen;
}

/// A set with the packing that a second method found, which lists the set's items alone.
TakenSet with_packing(const SubsetItems& items, const std::vector<bool>& took,
                      const Amounts& packing) {
  TakenSet set{items.score(took), took, Amounts(items.count() * items.bins())};
  std::size_t row = 0;
  for (std::size_t item = 0; item < items.count(); ++item) {
    if (!took[item]) continue;
    std::copy_n(packing.begin() + static_cast<std::ptrdiff_t>(row * items.bins()), items.bins(),
                set.taken.begin() + static_cast<std::ptrdiff_t>(item * items.bins()));
    ++row;
  }
  return set;
}

/// Decide undecided sets by the second method, those with the largest bounds first; returns the
/// bound of all sets.
SubsetScore settled(const SubsetItems& items, std::vector<UndecidedSet> undecided,
                    const SubsetScore& open, const Settle& settle, TakenSet& best) {
  std::stable_sort(
      undecided.begin(), undecided.end(),
      [](const UndecidedSet& one, const UndecidedSet& other) { return one.bound > other.bound; });
  SubsetScore bound = open;
  for (const UndecidedSet& set : undecided) {
    if (set.bound <= best.score) break;
    const Settlement answer = settle ? settle(chosen_of(items, set.took)) : Settlement{};
    if (answer.verdict == Fits::NO) continue;
    bound = std::max(bound, set.bound);  // the sets that continue from this one stay unexplored
    if (answer.verdict == Fits::YES && items.score(set.took) > best.score) {
      best = with_packing(items, set.took, answer.taken);
    }
  }
  return std::max(bound, best.score);
}

/// The set with the problem's own numbers of items, ascending.
PackedSet packed(const SubsetItems& items, const TakenSet& set) {
  std::vector<std::size_t> places;
  for (std::size_t item = 0; item < items.count(); ++item) {
    if (set.took[item]) places.push_back(item);
  }
  std::sort(places.begin(), places.end(), [&](std::size_t one, std::size_t other) {
    return items.order[one] < items.order[other];
  });
  PackedSet found;
  for (const std::size_t item : places) {
    const auto row = set.taken.begin() + static_cast<std::ptrdiff_t>(item * items.bins());
    found.items.push_back(items.order[item]);
    found.taken.insert(found.taken.end(), row, row + static_cast<std::ptrdiff_t>(items.bins()));
  }
  return found;
}

}  // namespace

SubsetChoice branch_and_bound(const SubsetProblem& problem, const SubsetBudget& budget,
                              const Settle& settle) {
  const SubsetItems items(problem, budget.table_cells);
  TakenSet best = greedy_set(items);
  SubsetBranching branching(items, budget, best.score);
  branching.run();
  if (branching.improved()) best = {branching.score(), branching.took(), branching.packing()};
  const SubsetScore bound = settled(items, branching.undecided(), branching.open(), settle, best);
  SubsetChoice choice;
  choice.bins = items.bins();
  choice.steps = branching.steps();
  const bool found = best.score[0] >= 0.0;
  if (found) choice.best = packed(items, best);
  if (bound[0] >= 0.0) choice.bound = bound;
  choice.proven = found ? bound <= best.score : !choice.bound.has_value();
  return choice;
}

}  // namespace spillway
