#include "engines/water_filling.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace spillway {
namespace {

/// Largest whole number at most `amount / count`, also where that quotient would be rounded up to a
/// whole number.
double whole_share(double amount, double count) {
  const double quotient = (amount - std::fmod(amount, count)) / count;
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1.0 : whole;
}

/// Equal requests that are too large get equal shares, but for a remainder of whole units.
std::vector<double> equal_shares(std::size_t count, double peak, bool whole) {
  const auto children = static_cast<double>(count);
  if (!whole) return std::vector<double>(count, peak / children);
  const double share = whole_share(std::floor(peak), children);
  const auto rest = static_cast<std::size_t>(std::floor(peak) - share * children);
  std::vector<double> shares(count, share);
  for (std::size_t child = count - rest; child < count; ++child) shares[child] += 1.0;
  return shares;
}

}  // namespace

std::vector<double> water_fill(const std::vector<double>& requests, double peak, bool whole) {
  if (std::accumulate(requests.begin(), requests.end(), 0.0) <= peak) return requests;
  const auto [least, most] = std::minmax_element(requests.begin(), requests.end());
  if (*least == *most) return equal_shares(requests.size(), peak, whole);
  std::vector<std::size_t> ascending(requests.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::stable_sort(ascending.begin(), ascending.end(), [&](std::size_t one, std::size_t other) {
    return requests[one] < requests[other];
  });
  std::vector<double> actual(requests.size(), 0.0);
  double left = peak;
  auto waiting = static_cast<double>(requests.size());
  for (const std::size_t child : ascending) {
    const double share = whole ? whole_share(left, waiting) : left / waiting;
    actual[child] = std::min(requests[child], share);
    left -= actual[child];
    waiting -= 1.0;
  }
  return actual;
}

}  // namespace spillway
