#include "model/rounding.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace spillway {
namespace {

constexpr std::array<double, 16> POWERS = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// Above this a scaled number has no room left for a fraction that could be judged.
constexpr double LARGEST = 1e15;

/// Share of the product by which it, itself rounded, may be off: so near a tie it does not decide,
/// the text of the exact value does. Twice the least unit's half, as the distance is rounded, too.
constexpr double UNSURE = 2.3e-16;

/// The whole number that is nearest to a scaled one, if that is certain; else false.
bool nearest(double scaled, double& whole) {
  if (!(std::fabs(scaled) < LARGEST)) return false;
  whole = std::nearbyint(scaled);
  return std::fabs(std::fabs(scaled - whole) - 0.5) > UNSURE * std::fabs(scaled);
}

}  // namespace

double rounded(double value, int decimals) {
  const double power = POWERS[static_cast<std::size_t>(decimals)];
  double whole = 0.0;
  if (nearest(value * power, whole)) return whole / power;
  if (!std::isfinite(value)) return value;
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return std::strtod(text.data(), nullptr);
}

void print(std::string& text, double value) {
  double whole = 0.0;
  if (!nearest(value * POWERS[PRINTED_DECIMALS], whole)) {
    std::array<char, 400> printed{};
    std::snprintf(printed.data(), printed.size(), "%.*f", PRINTED_DECIMALS, value);
    text += printed.data();
    return;
  }
  if (std::signbit(value)) text += '-';
  std::array<char, 24> digits{};
  auto left = static_cast<std::uint64_t>(std::fabs(whole));
  std::size_t at = digits.size();
  for (int place = 0; left > 0 || place <= PRINTED_DECIMALS; ++place) {
    if (place == PRINTED_DECIMALS) digits[--at] = '.';
    digits[--at] = static_cast<char>('0' + left % 10);
    left /= 10;
  }
  text.append(digits.data() + at, digits.size() - at);
}

}  // namespace spillway
