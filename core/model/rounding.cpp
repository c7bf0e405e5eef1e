#include "model/rounding.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace spillway {
namespace {

constexpr std::array<double, 16> POWERS = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// Above this a scaled number has no room left for a fraction that could be judged.
constexpr double LARGEST = 1e15;

/// Distance from a tie within which the product, itself rounded, does not decide: the text of the
/// exact value does.
constexpr double NEAR_TIE = 0.1;

}  // namespace

double rounded(double value, int decimals) {
  const double power = POWERS[static_cast<std::size_t>(decimals)];
  const double scaled = value * power;
  if (std::fabs(scaled) < LARGEST) {
    const double whole = std::nearbyint(scaled);
    if (std::fabs(std::fabs(scaled - whole) - 0.5) > NEAR_TIE) return whole / power;
  }
  if (!std::isfinite(value)) return value;
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return std::strtod(text.data(), nullptr);
}

}  // namespace spillway
