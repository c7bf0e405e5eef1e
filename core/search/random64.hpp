#pragma once

#include <cstdint>

namespace spillway {

/// A small generator of pseudo-random numbers: the same numbers from the same seed, on every
/// machine.
///
/// SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014. Its state is one word.
class Random64 {
 public:
  explicit Random64(std::uint64_t seed) : state_(seed) {}

  /// Next 64 random bits.
  std::uint64_t next_word() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
    return word ^ (word >> 31);
  }

  /// Next number in (0, 1): never 0, so that its logarithm is finite.
  double uniform() { return (static_cast<double>(next_word() >> 12) + 0.5) * 0x1p-52; }

  /// Next whole number from 0 to `limit - 1`, for a limit below 2^31 (the bias is under 2^-33).
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(((next_word() >> 32) * static_cast<std::uint64_t>(limit)) >>
                                     32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace spillway
