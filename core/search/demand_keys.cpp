#include "search/demand_keys.hpp"

#include <algorithm>
#include <cstddef>

namespace spillway {
namespace {

constexpr int BITS = 63;  // of a key, guard bits included

using Ranks = std::vector<std::uint64_t>;

Ranks ranks_of(const std::vector<std::int64_t>& part) {
  std::vector<std::int64_t> values(part);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  Ranks ranks;
  for (const std::int64_t value : part) {
    ranks.push_back(static_cast<std::uint64_t>(
        std::lower_bound(values.begin(), values.end(), value) - values.begin()));
  }
  return ranks;
}

std::uint64_t largest(const Ranks& ranks) {
  return ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end());
}

// Number of bits for the ranks and for one more number, which is above all of them.
int width_of(const Ranks& ranks) {
  int width = 0;
  for (std::uint64_t number = largest(ranks) + 1; number; number >>= 1) width++;
  return width;
}

}  // namespace

DemandKeys demand_keys(const std::vector<std::vector<std::int64_t>>& parts) {
  std::vector<Ranks> below;
  for (std::size_t number = 0; number < parts.size(); number++) {
    Ranks ranks = ranks_of(parts[number]);
    if (number == 0 || largest(ranks) > 0) below.push_back(std::move(ranks));
  }
  std::vector<Ranks> above(below);
  std::vector<int> widths;
  int bits = 0;
  for (const Ranks& ranks : below) bits += 1 + (widths.emplace_back(width_of(ranks)));
  while (bits > BITS) {
    const auto widest =
        static_cast<std::size_t>(std::max_element(widths.begin(), widths.end()) - widths.begin());
    for (std::uint64_t& rank : below[widest]) rank = (rank + 1) >> 1;
    for (std::uint64_t& rank : above[widest]) rank >>= 1;
    bits -= widths[widest];
    widths[widest] = width_of(below[widest]);
    bits += widths[widest];
  }
  DemandKeys keys;
  const std::size_t count = parts.empty() ? 0 : parts[0].size();
  keys.below.assign(count, 0);
  keys.above.assign(count, 0);
  int shift = 0;
  for (std::size_t part = 0; part < below.size(); part++) {
    for (std::size_t demand = 0; demand < count; demand++) {
      keys.below[demand] |= below[part][demand] << shift;
      keys.above[demand] |= above[part][demand] << shift;
    }
    keys.nothing |= ((std::uint64_t{1} << widths[part]) - 1) << shift;
    shift += widths[part];
    keys.guards |= std::uint64_t{1} << shift;
    shift++;
  }
  return keys;
}

}  // namespace spillway
