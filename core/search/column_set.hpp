#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spillway {

/// A set of columns (nodes), one bit each; sets that are compared or combined have the same width.
class ColumnSet {
 public:
  ColumnSet() = default;
  /// The empty set of so many columns.
  explicit ColumnSet(std::int64_t width) : words_((static_cast<std::size_t>(width) + 63) / 64) {}

  static ColumnSet whole(std::int64_t width) {
    ColumnSet set(width);
    for (std::int64_t column = 0; column < width; ++column) set.insert(column);
    return set;
  }

  void insert(std::int64_t column) {
    const auto bit = static_cast<std::size_t>(column);
    words_[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
  bool has(std::int64_t column) const {
    const auto bit = static_cast<std::size_t>(column);
    return words_[bit / 64] >> bit % 64 & 1;
  }
  void clear() { words_.assign(words_.size(), 0); }

  ColumnSet& operator|=(const ColumnSet& other) {
    for (std::size_t at = 0; at < words_.size(); ++at) words_[at] |= other.words_[at];
    return *this;
  }
  ColumnSet& operator&=(const ColumnSet& other) {
    for (std::size_t at = 0; at < words_.size(); ++at) words_[at] &= other.words_[at];
    return *this;
  }
  /// Take the columns of another set out.
  ColumnSet& operator-=(const ColumnSet& other) {
    for (std::size_t at = 0; at < words_.size(); ++at) words_[at] &= ~other.words_[at];
    return *this;
  }
  bool operator==(const ColumnSet& other) const { return words_ == other.words_; }
  bool operator!=(const ColumnSet& other) const { return words_ != other.words_; }

  // The questions below have no early end: a set has few words, and a plain sum needs no guess.
  bool empty() const {
    std::uint64_t found = 0;
    for (const std::uint64_t word : words_) found |= word;
    return found == 0;
  }
  /// Whether all its columns are in another set.
  bool within(const ColumnSet& other) const {
    std::uint64_t beyond = 0;
    for (std::size_t at = 0; at < words_.size(); ++at) beyond |= words_[at] & ~other.words_[at];
    return beyond == 0;
  }
  /// Whether some column is in both sets.
  bool meets(const ColumnSet& other) const {
    std::uint64_t both = 0;
    for (std::size_t at = 0; at < words_.size(); ++at) both |= words_[at] & other.words_[at];
    return both != 0;
  }
  std::int64_t count() const {
    std::int64_t found = 0;
    for (const std::uint64_t word : words_) found += ones(word);
    return found;
  }
  /// Number of columns that are in both sets.
  std::int64_t count_in(const ColumnSet& other) const {
    std::int64_t found = 0;
    for (std::size_t at = 0; at < words_.size(); ++at) found += ones(words_[at] & other.words_[at]);
    return found;
  }
  /// Add the lowest columns of another set that are not in this one, at most so many; returns how
  /// many more are wanted.
  std::int64_t insert_lowest(const ColumnSet& other, std::int64_t wanted) {
    for (std::size_t at = 0; at < words_.size() && wanted > 0; ++at) {
      std::uint64_t fresh = other.words_[at] & ~words_[at];
      for (; fresh != 0 && wanted > 0; fresh &= fresh - 1, --wanted)
        words_[at] |= fresh & (~fresh + 1);
    }
    return wanted;
  }

  /// Bit `c % 64` of word `c / 64` stands for column `c`.
  const std::vector<std::uint64_t>& words() const { return words_; }
  std::vector<std::uint64_t>& words() { return words_; }

 private:
  /// Number of bits that are 1; without an instruction that not every processor of the family has.
  static std::int64_t ones(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555U;
    word = (word & 0x3333333333333333U) + (word >> 2 & 0x3333333333333333U);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0FU;
    return static_cast<std::int64_t>(word * 0x0101010101010101U >> 56);
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace spillway
