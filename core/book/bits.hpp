// Sets of nodes as words of 64 bits: node i is bit i % 64 of word i / 64.
#pragma once
#include <cstdint>

namespace spillway {

// Words are unsigned: as signed integers they overflow. The cells of a row are signed; its words
// are read through this.
inline const std::uint64_t* words_of(const std::int64_t* cells) {
  return reinterpret_cast<const std::uint64_t*>(cells);
}
inline std::uint64_t* words_of(std::int64_t* cells) {
  return reinterpret_cast<std::uint64_t*>(cells);
}

// Number of bits set; no instruction that only some x86-64 processors have.
inline std::int64_t popcount(std::uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555ULL;
  word = (word & 0x3333333333333333ULL) + ((word >> 2) & 0x3333333333333333ULL);
  word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0FULL;
  return static_cast<std::int64_t>((word * 0x0101010101010101ULL) >> 56);
}

// Number of the lowest bit that is set; there is one.
inline std::int64_t lowest_bit(std::uint64_t word) { return __builtin_ctzll(word); }

inline std::uint64_t bit_of(std::int64_t node) { return std::uint64_t{1} << (node & 63); }

}  // namespace spillway
