#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/subset_items.hpp"

namespace spillway {

/// A set for which packing ran out of its budget, and a bound of all sets that begin like it.
struct UndecidedSet {
  std::vector<bool> took;
  SubsetScore bound;
};

/// The branch and bound over the sets of a problem's items, depth-first: take each item, then leave
/// it out.
class SubsetBranching {
 public:
  /// @param start score to beat
  SubsetBranching(const SubsetItems& items, const SubsetBudget& budget, const SubsetScore& start);

  /// Search all branches; when the budget is used up, the branches still open are not searched:
  /// their bounds are noted.
  void run();

  std::int64_t steps() const { return steps_; }
  /// The best score, and whether it is better than that of the start.
  const SubsetScore& score() const { return best_; }
  bool improved() const { return improved_; }
  /// The items of the best set, where it is better than the start.
  const std::vector<bool>& took() const { return best_took_; }
  /// Their packing, made as the search made it: everything anew at the last repacked item, later
  /// items on top.
  Amounts packing();

  /// The first sets left undecided, and the largest bound of all other branches given up.
  const std::vector<UndecidedSet>& undecided() const { return undecided_; }
  const SubsetScore& open() const { return open_; }

 private:
  /// Sums over the items taken before each item.
  struct Sums {
    std::int64_t units = 0;
    std::int64_t size = 0;
    std::int64_t number = 0;
    double waits = 0.0;
  };
  enum class Stage { NEW, TAKEN, LEFT_OUT, DONE };

  bool bound(std::size_t depth, SubsetScore& score) const;
  double mean_bound(std::size_t depth, std::int64_t more_units) const;
  Stage enter(std::size_t depth);
  bool take(std::size_t depth);
  bool within_limits(std::size_t depth) const;
  Fits place(std::size_t depth);
  void give_up(std::size_t depth);
  void add_up(std::size_t depth, bool take);

  std::int64_t* left(std::size_t depth) { return &left_[depth * (bins_ + 1)]; }

  const SubsetItems& items_;
  const SubsetBudget budget_;
  const std::size_t bins_, limits_;
  Packer packer_;
  std::int64_t steps_ = 0;

  SubsetScore best_, score_{};
  bool improved_ = false;
  std::vector<bool> best_took_, best_repacked_;
  std::vector<UndecidedSet> undecided_;
  SubsetScore open_ = NO_SCORE;

  // the current branch
  std::vector<bool> took_, repacked_;  // items taken; items at which all were packed anew
  Amounts left_;                       // capacities left before each item
  std::vector<Sums> sums_;
  Amounts loads_;                // loads before each item
  std::vector<double> longest_;  // longest wait from each item on
  std::vector<Stage> stages_;
  Amounts trial_, row_, pack_units_, pack_sizes_, packed_;
};

}  // namespace spillway
