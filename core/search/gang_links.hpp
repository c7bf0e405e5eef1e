#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/column_set.hpp"

namespace spillway {

/// The links above the columns of a matrix.
struct GangLinks {
  std::vector<ColumnSet> below;           // columns below each link, directly or not
  std::vector<std::int64_t> bytes_per_s;  // capacity of each link
};

/// Bytes per second left on each link in each row of a matrix.
///
/// Rows run one at a time, so each row may use the whole bandwidth of every link. A task that
/// streams takes its job's rate on every link above its column, in each row of the job. Links form
/// a tree: the sets of columns that they can carry are a laminar matroid, so choosing columns one
/// after the other, in any order, finds the largest number of them. Each row follows the rule of a
/// machine without time sharing (Herbein et al., HPDC 2016, section 3.4, DOI
/// 10.1145/2907294.2907316).
class GangRoom {
 public:
  GangRoom(const GangLinks& links, std::size_t rows)
      : links_(links), left_(rows, links.bytes_per_s) {}

  /// Whether the links carry this rate for each of these columns in a row.
  bool carries(std::size_t row, const ColumnSet& columns, std::int64_t rate) const {
    if (rate == 0) return true;
    for (std::size_t link = 0; link < links_.below.size(); ++link) {
      const std::int64_t tasks = columns.count_in(links_.below[link]);
      const std::int64_t left = left_[row][link];
      // divided, as the product may exceed 64 bits
      if (tasks > 0 && (left < 0 || rate > left / tasks)) return false;
    }
    return true;
  }

  /// Use the links for these columns in a row.
  void take(std::size_t row, const ColumnSet& columns, std::int64_t rate) {
    if (rate == 0) return;
    for (std::size_t link = 0; link < links_.below.size(); ++link) {
      left_[row][link] -= columns.count_in(links_.below[link]) * rate;
    }
  }

  /// Undo `take`.
  void give(std::size_t row, const ColumnSet& columns, std::int64_t rate) {
    take(row, columns, -rate);
  }

  /// Choose so many columns of some sets, those of the last set first and in each the lowest, that
  /// the links of a row carry together; returns false where there are fewer.
  bool choose(std::size_t row, const std::vector<ColumnSet>& sets, std::int64_t count,
              std::int64_t rate, ColumnSet& chosen) const {
    std::vector<std::int64_t> left = left_[row];
    std::int64_t wanted = count;
    chosen.clear();
    for (std::size_t set = sets.size(); set-- > 0 && wanted > 0;) {
      const auto width = static_cast<std::int64_t>(64 * chosen.words().size());
      for (std::int64_t column = 0; column < width && wanted > 0; ++column) {
        if (!sets[set].has(column) || chosen.has(column) || !reserve(column, rate, left)) continue;
        chosen.insert(column);
        --wanted;
      }
    }
    return wanted == 0;
  }

 private:
  /// Take a column's rate from all links above it, or nothing if one of them does not carry it.
  bool reserve(std::int64_t column, std::int64_t rate, std::vector<std::int64_t>& left) const {
    for (std::size_t link = 0; link < left.size(); ++link) {
      if (links_.below[link].has(column) && left[link] < rate) return false;
    }
    for (std::size_t link = 0; link < left.size(); ++link) {
      if (links_.below[link].has(column)) left[link] -= rate;
    }
    return true;
  }

  const GangLinks& links_;
  std::vector<std::vector<std::int64_t>> left_;
};

}  // namespace spillway
