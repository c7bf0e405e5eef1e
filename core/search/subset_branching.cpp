#include "search/subset_branching.hpp"

#include <algorithm>
#include <limits>

namespace spillway {
namespace {

/// Sets left undecided that are kept for a second method.
constexpr std::size_t MOST_UNDECIDED = 64;

}  // namespace

SubsetBranching::SubsetBranching(const SubsetItems& items, const SubsetBudget& budget,
                                 const SubsetScore& start)
    : items_(items),
      budget_(budget),
      bins_(items.bins()),
      limits_(items.sorted.loads.size()),
      best_(start),
      best_took_(items.count()),
      best_repacked_(items.count()),
      took_(items.count()),
      repacked_(items.count()),
      left_((items.count() + 1) * (bins_ + 1)),
      sums_(items.count() + 1),
      loads_((items.count() + 1) * (limits_ + 1)),
      longest_(items.count() + 1),
      stages_(items.count() + 1, Stage::NEW),
      row_(bins_) {
  std::copy_n(items.sorted.capacities.begin(), bins_, left(0));
  for (std::size_t item = items.count(); item-- > 0;) {
    longest_[item] = std::max(longest_[item + 1], items.sorted.waits[item]);
  }
}

void SubsetBranching::run() {
  const std::size_t count = items_.count();
  std::size_t at = 1;  // depth of the branch from 1 on; 0 ends the search
  while (at > 0) {
    const std::size_t depth = at - 1;
    Stage& stage = stages_[depth];
    stage = stage == Stage::NEW     ? enter(depth)
            : stage == Stage::TAKEN ? Stage::LEFT_OUT
                                    : Stage::DONE;
    if (stage == Stage::TAKEN) {
      if (!take(depth)) continue;
    } else if (stage == Stage::DONE || items_.must[depth]) {
      if (depth < count) took_[depth] = false;
      --at;
      continue;
    } else {
      std::copy_n(left(depth), bins_, left(depth + 1));
    }
    took_[depth] = stage == Stage::TAKEN;
    add_up(depth, took_[depth]);
    stages_[at] = Stage::NEW;
    ++at;
  }
}

/// Evaluate a new branch: whether to take its next item, or not to search it.
SubsetBranching::Stage SubsetBranching::enter(std::size_t depth) {
  ++steps_;
  if (!bound(depth, score_) || !(score_ > best_)) return Stage::DONE;
  if (steps_ > budget_.steps) {
    open_ = std::max(open_, score_);
    return Stage::DONE;
  }
  if (depth < items_.count()) return Stage::TAKEN;
  best_ = score_;
  best_took_ = took_;
  best_repacked_ = repacked_;
  improved_ = true;
  return Stage::DONE;
}

/// Bound the scores of all sets that continue from here; false if no such set exists. All bins
/// count as one.
bool SubsetBranching::bound(std::size_t depth, SubsetScore& score) const {
  const SubsetTables& tables = items_.tables;
  const Sums& sums = sums_[depth];
  const bool units_first = items_.sorted.units_first;
  const std::int64_t capacity = items_.capacity - sums.size;
  std::int64_t more_units = -1, more_size = -1;
  for (std::int64_t units = items_.free - sums.units; units >= 0; --units) {
    if (!tables.reached(depth, units) || tables.least(depth, units) > capacity) continue;
    const std::int64_t reach = std::min(capacity, tables.most(depth, units));
    if (reach > more_size) {
      more_units = units;
      more_size = reach;
    }
    if (units_first || more_size == capacity) break;
  }
  if (more_units < 0) return false;
  const double units = static_cast<double>(sums.units + more_units);
  const double size = static_cast<double>(sums.size + more_size);
  score = {units_first ? units : size, units_first ? size : units, mean_bound(depth, more_units)};
  return true;
}

/// Bound the mean wait of the sets that continue from here with so many further units.
double SubsetBranching::mean_bound(std::size_t depth, std::int64_t more_units) const {
  const SubsetTables& tables = items_.tables;
  const Sums& sums = sums_[depth];
  if (!tables.has_waits()) {
    const std::int64_t number = std::max(sums.number, std::int64_t{1});
    return std::max(sums.waits / static_cast<double>(number), longest_[depth]);
  }
  double mean = 0.0;
  for (std::size_t more = 0; more <= items_.count(); ++more) {
    const double wait = tables.wait_sum(depth, more_units, more);
    const std::int64_t number = sums.number + static_cast<std::int64_t>(more);
    if (wait == -std::numeric_limits<double>::infinity() || number == 0) continue;
    mean = std::max(mean, (sums.waits + wait) / static_cast<double>(number));
  }
  return mean;
}

/// Take an item if it fits; a set that could not be decided is noted.
bool SubsetBranching::take(std::size_t depth) {
  const Fits verdict = within_limits(depth) ? place(depth) : Fits::NO;
  if (verdict == Fits::UNDECIDED) give_up(depth);
  return verdict == Fits::YES;
}

void SubsetBranching::give_up(std::size_t depth) {
  if (undecided_.size() == MOST_UNDECIDED) {
    open_ = std::max(open_, score_);
    return;
  }
  std::vector<bool> took(items_.count());
  std::copy_n(took_.begin(), depth, took.begin());
  took[depth] = true;
  undecided_.push_back({std::move(took), std::max(NO_SCORE, score_)});
}

/// Whether one more item stays within all limits.
bool SubsetBranching::within_limits(std::size_t depth) const {
  const SubsetProblem& sorted = items_.sorted;
  if (sums_[depth].units + sorted.units[depth] > items_.free) return false;
  if (sums_[depth].size + items_.total(depth) > items_.capacity) return false;
  for (std::size_t limit = 0; limit < limits_; ++limit) {
    const std::int64_t before = loads_[depth * (limits_ + 1) + limit];
    if (before + sorted.loads[limit][depth] > sorted.load_limits[limit]) return false;
  }
  return true;
}

/// Pack one more item together with those taken before it, and compute the capacities left.
///
/// First the new item goes on top of the packing so far; if that fails, all are packed anew.
Fits SubsetBranching::place(std::size_t depth) {
  const SubsetProblem& sorted = items_.sorted;
  repacked_[depth] = false;
  trial_.assign(left(depth), left(depth) + bins_);
  if (sorted.sizes[depth] == 0 ||
      tightest_fit(sorted.units[depth], sorted.sizes[depth], trial_, row_.data())) {
    std::copy_n(trial_.begin(), bins_, left(depth + 1));
    return Fits::YES;
  }
  pack_units_.clear();
  pack_sizes_.clear();
  for (std::size_t item = 0; item <= depth; ++item) {
    if ((took_[item] || item == depth) && sorted.sizes[item] > 0) {
      pack_units_.push_back(sorted.units[item]);
      pack_sizes_.push_back(sorted.sizes[item]);
    }
  }
  const PackingAnswer answer =
      packer_.pack_sorted(pack_units_, pack_sizes_, sorted.capacities, budget_.pack_steps, packed_);
  steps_ += answer.steps;
  if (answer.verdict != Fits::YES) return answer.verdict;
  repacked_[depth] = true;
  for (std::size_t bin = 0; bin < bins_; ++bin) {
    std::int64_t capacity = sorted.capacities[bin];
    for (std::size_t place = 0; place < pack_sizes_.size(); ++place) {
      capacity -= packed_[place * bins_ + bin] * pack_sizes_[place];
    }
    left(depth + 1)[bin] = capacity;
  }
  return Fits::YES;
}

/// Compute the sums with one more item taken or left out.
void SubsetBranching::add_up(std::size_t depth, bool take) {
  const SubsetProblem& sorted = items_.sorted;
  Sums sums = sums_[depth];
  if (take) {
    sums.units += sorted.units[depth];
    sums.size += items_.total(depth);
    sums.number += 1;
    sums.waits += sorted.waits[depth];
  }
  sums_[depth + 1] = sums;
  for (std::size_t limit = 0; limit < limits_; ++limit) {
    const std::int64_t more = take ? sorted.loads[limit][depth] : 0;
    const std::size_t at = depth * (limits_ + 1) + limit;
    loads_[at + limits_ + 1] = loads_[at] + more;
  }
}

Amounts SubsetBranching::packing() {
  const SubsetProblem& sorted = items_.sorted;
  Amounts taken(items_.count() * bins_), capacities = sorted.capacities;
  std::vector<std::size_t> anew, on_top;
  for (std::size_t item = 0; item < items_.count(); ++item) {
    if (!best_took_[item] || sorted.sizes[item] == 0) continue;
    on_top.push_back(item);
    if (best_repacked_[item]) {
      anew.insert(anew.end(), on_top.begin(), on_top.end());
      on_top.clear();
    }
  }
  pack_units_.clear();
  pack_sizes_.clear();
  for (const std::size_t item : anew) {
    pack_units_.push_back(sorted.units[item]);
    pack_sizes_.push_back(sorted.sizes[item]);
  }
  if (!anew.empty()) {
    packer_.pack_sorted(pack_units_, pack_sizes_, sorted.capacities, budget_.pack_steps, packed_);
  }
  for (std::size_t place = 0; place < anew.size(); ++place) {
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      const std::int64_t units = packed_[place * bins_ + bin];
      taken[anew[place] * bins_ + bin] = units;
      capacities[bin] -= units * pack_sizes_[place];
    }
  }
  for (const std::size_t item : on_top) {
    tightest_fit(sorted.units[item], sorted.sizes[item], capacities, &taken[item * bins_]);
  }
  return taken;
}

}  // namespace spillway
