// Loops over columns in the widest registers that the processor has: compiled once for each family
// of processors, chosen when the module is loaded. They compute with whole numbers, or compare:
// results are the same everywhere.
#pragma once
#include <cstdint>

namespace spillway {

// to[i] = min(one[i], other[i]); `to` may be `one`.
void take_least(std::int64_t* to, const std::int64_t* one, const std::int64_t* other,
                std::int64_t count);

// to[i] -= taken[i], to[i] += taken[i]; unsigned: a word's highest bit is a node, too.
void subtract_row(std::uint64_t* to, const std::uint64_t* taken, std::int64_t count);
void add_row(std::uint64_t* to, const std::uint64_t* given, std::int64_t count);

// The latest of some starts whose keys are below a key with its guard bits
// (search/demand_keys.hpp), and of one more.
double latest_of(const double* starts_s, const std::uint64_t* keys, std::int64_t count,
                 std::uint64_t key, std::uint64_t guards, double latest_s);

// Number of cells that are at least as large as a size, and their sum.
struct Usable {
  std::int64_t count = 0, sum = 0;
};
Usable usable_cells(const std::int64_t* cells, std::int64_t count, std::int64_t size);

}  // namespace spillway
