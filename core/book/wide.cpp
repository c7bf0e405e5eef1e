#include "wide.hpp"

#include <algorithm>
#include <cstring>

// Loaders other than glibc's do not choose; the address sanitizer starts after the choice.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__)
#define IN_WIDE_REGISTERS \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define IN_WIDE_REGISTERS
#endif

namespace spillway {

IN_WIDE_REGISTERS
void take_least(std::int64_t* to, const std::int64_t* one, const std::int64_t* other,
                std::int64_t count) {
  for (std::int64_t place = 0; place < count; place++)
    to[place] = std::min(one[place], other[place]);
}

IN_WIDE_REGISTERS
void subtract_row(std::uint64_t* to, const std::uint64_t* taken, std::int64_t count) {
  for (std::int64_t place = 0; place < count; place++) to[place] -= taken[place];
}

IN_WIDE_REGISTERS
void add_row(std::uint64_t* to, const std::uint64_t* given, std::int64_t count) {
  for (std::int64_t place = 0; place < count; place++) to[place] += given[place];
}

IN_WIDE_REGISTERS
double latest_of(const double* starts_s, const std::uint64_t* keys, std::int64_t count,
                 std::uint64_t key, std::uint64_t guards, double latest_s) {
  // Numbers that are compared at once. With branches this takes most of the time of long plans.
  constexpr std::int64_t WIDE = 4;
  using Keys = std::uint64_t __attribute__((vector_size(8 * WIDE)));
  using Masks = std::int64_t __attribute__((vector_size(8 * WIDE)));
  using Starts = double __attribute__((vector_size(8 * WIDE)));
  const Keys above = key - Keys{}, guard = guards - Keys{};
  Starts found = latest_s - Starts{};
  std::int64_t place = 0;
  for (; place + WIDE <= count; place += WIDE) {
    Keys below;
    Starts start;
    std::memcpy(&below, keys + place, sizeof below);
    std::memcpy(&start, starts_s + place, sizeof start);
    const Masks is_below = ((above - below) & guard) == guard;
    const Starts counted = reinterpret_cast<Starts>(reinterpret_cast<Masks>(start) & is_below);
    found = found < counted ? counted : found;
  }
  for (std::int64_t lane = 0; lane < WIDE; lane++) latest_s = std::max(latest_s, found[lane]);
  for (; place < count; place++) {
    if (((key - keys[place]) & guards) == guards) latest_s = std::max(latest_s, starts_s[place]);
  }
  return latest_s;
}

IN_WIDE_REGISTERS
Usable usable_cells(const std::int64_t* cells, std::int64_t count, std::int64_t size) {
  Usable found;
  for (std::int64_t place = 0; place < count; place++) {
    const bool has = cells[place] >= size;
    found.count += has;
    found.sum += has ? cells[place] : 0;
  }
  return found;
}

}  // namespace spillway
