#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spillway {

using Amounts = std::vector<std::int64_t>;

/// Answer to whether units fit into bins.
enum class Fits : int { NO = 0, YES = 1, UNDECIDED = -1 };

/// Answer of a packing search, and the steps that it took.
struct PackingAnswer {
  Fits verdict = Fits::NO;
  std::int64_t steps = 0;
};

/// Put units into the fullest bin that still takes one, again and again.
///
/// Takes from `capacities` and writes the units of each bin to `taken` (one number per bin).
/// Returns false when some do not fit; units placed until then stay placed.
bool tightest_fit(std::int64_t units, std::int64_t size, Amounts& capacities, std::int64_t* taken);

/// Packs whole units into bins, or proves that they do not fit; keeps its working memory from
/// question to question.
///
/// Item `i` is `units[i]` units of `sizes[i]`, each of which goes whole into one bin of
/// `capacities[j]`. In the terms of Kopanski's thesis (2020, equations 3.1-3.3): the nodes of a
/// job, its burst-buffer bytes per node, and the storage nodes. The problem is NP-complete, yet
/// quickly solved for the sizes that occur: counting places settles most cases, a rule of thumb
/// (largest first, each into the tightest bin) most others, and a search bin by bin those that
/// remain.
///
/// Bins are closed one by one, least capacity first, each as full as possible at first. The waste
/// of a closed bin is charged to the surplus of all capacities over all units; when that is used
/// up, the search backtracks. Fillings that could be enlarged are left out, and remainders found
/// not to fit are not tried again.
///
/// A. S. Fukunaga, R. E. Korf, "Bin completion algorithms for multicontainer packing, knapsack, and
/// covering problems", JAIR 28, 2007 (bin by bin, dominance); S. Martello, P. Toth, "Knapsack
/// problems", 1990, chapter 8 (the criterion of dominance).
class Packer {
 public:
  /// Pack items of any order.
  ///
  /// @param units at least 0 of each item
  /// @param sizes size of one unit, at least 0
  /// @param capacities at least 0 of each bin, in the measure of the sizes
  /// @param budget most steps; one step is one count of one item in one bin
  /// @param taken output: units of each item in each bin, item by item; zeros where they do not fit
  PackingAnswer pack(const Amounts& units, const Amounts& sizes, const Amounts& capacities,
                     std::int64_t budget, Amounts& taken);

  /// The same for items in the order of falling sizes, with at least one unit and size 1 each.
  ///
  /// `taken` holds the packing only where the verdict is YES.
  PackingAnswer pack_sorted(const Amounts& units, const Amounts& sizes, const Amounts& capacities,
                            std::int64_t budget, Amounts& taken);

 private:
  /// Places for remainders found not to fit; a later one may overwrite an earlier one.
  static constexpr std::size_t MEMO = std::size_t{1} << 12;

  /// A remainder that does not fit: its number, and the question and bin that it belongs to.
  struct Remainder {
    std::int64_t key = 0;
    std::int64_t stamp = 0;
  };

  /// One cell of the search is a bin and an item: how many units of the item go into the bin, most
  /// first.
  struct Cell {
    std::int64_t spare = 0;  // capacity left in the bin on entering the cell
    bool equal = false;      // so far filled like the bin before, which has the same capacity
  };

  PackingAnswer search(std::int64_t budget);
  bool begin(const Amounts& units, const Amounts& sizes, const Amounts& capacities, Amounts& taken);
  void order_bins();
  void number_remainders(const Amounts& units);
  Fits enter_bin(std::size_t bin);
  Fits count_or_finish(std::size_t first);
  bool hopeless(std::size_t bin, std::size_t item, std::int64_t spare) const;
  bool undominated(std::size_t bin, std::int64_t spare) const;
  std::int64_t key() const;
  bool known(std::size_t bin) const;
  void remember(std::size_t bin);
  Remainder remainder(std::size_t bin) const;

  std::int64_t& taken(std::size_t item, std::size_t bin) const {
    return (*taken_)[item * capacities_->size() + order_[bin]];
  }

  // the present question
  const Amounts* sizes_ = nullptr;
  const Amounts* capacities_ = nullptr;
  Amounts* taken_ = nullptr;
  std::vector<std::size_t> order_;  // bins that hold at least one unit, least capacity first
  Amounts left_;                    // units of each item that are in no closed bin
  Amounts radix_;                   // weights that number all remainders
  bool numbered_ = false;           // whether the numbers are below 2^62
  std::vector<Cell> cells_;
  Amounts waste_;  // capacity that bins from each on may leave unused
  Amounts spare_capacities_, row_;

  // all questions so far
  std::array<Remainder, MEMO> memo_{};
  std::int64_t stamp_ = 0;
};

}  // namespace spillway
