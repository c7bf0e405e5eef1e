#include "search/packing.hpp"

#include <algorithm>
#include <numeric>

namespace spillway {
namespace {

constexpr double LARGEST_KEY = 4.0e18;

}  // namespace

bool tightest_fit(std::int64_t units, std::int64_t size, Amounts& capacities, std::int64_t* taken) {
  const std::size_t bins = capacities.size();
  std::fill(taken, taken + bins, 0);
  for (std::int64_t left = units; left > 0;) {
    std::size_t best = bins;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      if (capacities[bin] >= size && (best == bins || capacities[bin] < capacities[best])) {
        best = bin;
      }
    }
    if (best == bins) return false;
    const std::int64_t count = std::min(left, capacities[best] / size);
    capacities[best] -= count * size;
    taken[best] += count;
    left -= count;
  }
  return true;
}

PackingAnswer Packer::pack(const Amounts& units, const Amounts& sizes, const Amounts& capacities,
                           std::int64_t budget, Amounts& taken) {
  const std::size_t bins = capacities.size();
  std::vector<std::size_t> order;
  for (std::size_t item = 0; item < units.size(); ++item) {
    if (units[item] > 0 && sizes[item] > 0) order.push_back(item);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t one, std::size_t other) { return sizes[one] > sizes[other]; });
  Amounts sorted_units, sorted_sizes, found;
  for (const std::size_t item : order) {
    sorted_units.push_back(units[item]);
    sorted_sizes.push_back(sizes[item]);
  }
  const PackingAnswer answer = pack_sorted(sorted_units, sorted_sizes, capacities, budget, found);
  taken.assign(units.size() * bins, 0);
  if (answer.verdict != Fits::YES || bins == 0) return answer;
  for (std::size_t place = 0; place < order.size(); ++place) {
    std::copy_n(&found[place * bins], bins, &taken[order[place] * bins]);
  }
  for (std::size_t item = 0; item < units.size(); ++item) {
    if (sizes[item] == 0) taken[item * bins] = units[item];
  }
  return answer;
}

PackingAnswer Packer::pack_sorted(const Amounts& units, const Amounts& sizes,
                                  const Amounts& capacities, std::int64_t budget, Amounts& taken) {
  const bool possible = begin(units, sizes, capacities, taken);
  if (units.empty() || !possible) return {units.empty() ? Fits::YES : Fits::NO, 0};
  stamp_ += static_cast<std::int64_t>(capacities.size()) + 1;
  return search(budget);
}

/// Set up the search; returns false where the capacity of all usable bins is too little.
bool Packer::begin(const Amounts& units, const Amounts& sizes, const Amounts& capacities,
                   Amounts& taken) {
  sizes_ = &sizes;
  capacities_ = &capacities;
  taken_ = &taken;
  taken.assign(units.size() * capacities.size(), 0);
  left_ = units;
  order_bins();
  number_remainders(units);
  cells_.assign(order_.size() * units.size() + 1, {});
  waste_.assign(order_.size() + 1, 0);
  for (const std::size_t bin : order_) waste_[0] += capacities[bin];
  for (std::size_t item = 0; item < units.size(); ++item) waste_[0] -= units[item] * sizes[item];
  return waste_[0] >= 0;
}

/// Find the bins that hold at least one unit, and order them by capacity.
void Packer::order_bins() {
  order_.clear();
  if (sizes_->empty()) return;
  for (std::size_t bin = 0; bin < capacities_->size(); ++bin) {
    if ((*capacities_)[bin] >= sizes_->back()) order_.push_back(bin);
  }
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t one, std::size_t other) {
    return (*capacities_)[one] < (*capacities_)[other];
  });
}

void Packer::number_remainders(const Amounts& units) {
  radix_.assign(units.size(), 0);
  numbered_ = false;
  double product = 1.0;
  std::int64_t weight = 1;
  for (std::size_t item = 0; item < units.size(); ++item) {
    product *= static_cast<double>(units[item] + 1);
    if (product > LARGEST_KEY) return;
    radix_[item] = weight;
    weight *= units[item] + 1;
  }
  numbered_ = true;
}

PackingAnswer Packer::search(std::int64_t budget) {
  const Amounts& sizes = *sizes_;
  const std::size_t items = sizes.size();
  std::int64_t steps = 0;
  std::size_t at = 1;  // number of the cell from 1 on; 0 ends the search
  bool entering = true;
  while (at > 0) {
    const std::size_t bin = (at - 1) / items, item = (at - 1) % items;
    Cell& cell = cells_[at - 1];
    if (entering && item == 0) {
      const Fits verdict = enter_bin(bin);
      if (verdict == Fits::YES) return {Fits::YES, steps};
      if (verdict == Fits::NO) {
        --at;
        entering = false;
        continue;
      }
      const std::int64_t capacity = (*capacities_)[order_[bin]];
      cell.spare = capacity;
      cell.equal = bin > 0 && (*capacities_)[order_[bin - 1]] == capacity;
    }
    std::int64_t& count = taken(item, bin);
    if (entering) {
      if (hopeless(bin, item, cell.spare)) {
        --at;
        entering = false;
        continue;
      }
      count = std::min(left_[item], cell.spare / sizes[item]);
      if (cell.equal) count = std::min(count, taken(item, bin - 1));
    } else {
      left_[item] += count;
      if (--count < 0) {
        count = 0;
        if (item == 0 && numbered_) remember(bin);
        --at;
        continue;
      }
    }
    if (++steps > budget) return {Fits::UNDECIDED, steps};
    left_[item] -= count;
    const std::int64_t left_over = cell.spare - count * sizes[item];
    if (item == items - 1) {
      entering = left_over <= waste_[bin] && undominated(bin, left_over);
      if (!entering) continue;
      waste_[bin + 1] = waste_[bin] - left_over;
    }
    Cell& next = cells_[at];
    next.spare = left_over;
    next.equal = cell.equal && count == taken(item, bin - 1);
    ++at;
    entering = true;
  }
  return {Fits::NO, steps};
}

/// Whether the remaining units fit into the bins from one on, if that can be told without closing
/// it.
Fits Packer::enter_bin(std::size_t bin) {
  if (bin == order_.size() || (numbered_ && known(bin))) return Fits::NO;
  return count_or_finish(bin);
}

/// Try to settle the remaining units for the bins from `first` on: by counting places, or by the
/// rule of thumb.
Fits Packer::count_or_finish(std::size_t first) {
  const Amounts& sizes = *sizes_;
  spare_capacities_.clear();
  for (std::size_t bin = first; bin < order_.size(); ++bin) {
    spare_capacities_.push_back((*capacities_)[order_[bin]]);
  }
  std::int64_t total = 0;
  for (std::size_t item = 0; item < sizes.size(); ++item) {
    if (left_[item] == 0) continue;
    total += left_[item];  // all these are at least as large as this item's
    std::int64_t places = 0;
    for (const std::int64_t capacity : spare_capacities_) places += capacity / sizes[item];
    if (places < total) return Fits::NO;
  }
  row_.resize(spare_capacities_.size());
  for (std::size_t item = 0; item < sizes.size(); ++item) {
    if (!tightest_fit(left_[item], sizes[item], spare_capacities_, row_.data())) {
      return Fits::UNDECIDED;
    }
    for (std::size_t bin = first; bin < order_.size(); ++bin) taken(item, bin) = row_[bin - first];
  }
  return Fits::YES;
}

/// Whether even all units from an item on leave more of a bin unused than may be wasted.
bool Packer::hopeless(std::size_t bin, std::size_t item, std::int64_t spare) const {
  std::int64_t possible = 0;
  for (; item < left_.size(); ++item) possible += left_[item] * (*sizes_)[item];
  return spare - possible > waste_[bin];
}

/// Whether a bin with `spare` free is full: no unit fits in, and no unit in it can give way to a
/// larger one.
///
/// Otherwise any packing that continues from here could be changed into one that continues from the
/// fuller bin.
bool Packer::undominated(std::size_t bin, std::int64_t spare) const {
  const Amounts& sizes = *sizes_;
  for (std::size_t item = 0; item < sizes.size(); ++item) {
    if (left_[item] > 0 && sizes[item] <= spare) return false;
  }
  for (std::size_t item = 0; item < sizes.size(); ++item) {
    if (taken(item, bin) <= 0) continue;
    for (std::size_t larger = item; larger-- > 0 && sizes[larger] <= sizes[item] + spare;) {
      if (left_[larger] > 0 && sizes[larger] > sizes[item]) return false;
    }
  }
  return true;
}

std::int64_t Packer::key() const {
  return std::inner_product(left_.begin(), left_.end(), radix_.begin(), std::int64_t{0});
}

Packer::Remainder Packer::remainder(std::size_t bin) const {
  return {key(), stamp_ + static_cast<std::int64_t>(bin)};
}

/// Whether the remaining units are known not to fit into the bins from one on.
bool Packer::known(std::size_t bin) const {
  const Remainder wanted = remainder(bin);
  const Remainder& found = memo_[(static_cast<std::uint64_t>(wanted.key) * 31 + bin) % MEMO];
  return found.key == wanted.key && found.stamp == wanted.stamp;
}

void Packer::remember(std::size_t bin) {
  const Remainder found = remainder(bin);
  memo_[(static_cast<std::uint64_t>(found.key) * 31 + bin) % MEMO] = found;
}

}  // namespace spillway
