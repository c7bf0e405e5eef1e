// A number as it was stated: whole, or not. Batsim prints the two differently.
#pragma once
#include <cstdint>
#include <functional>

namespace spillway {

struct Amount {
  double value = 0.0;
  std::int64_t exact = 0;  // of a whole number
  bool whole = false;

  Amount() = default;
  explicit Amount(double number) : value(number) {}
  explicit Amount(std::int64_t number)
      : value(static_cast<double>(number)), exact(number), whole(true) {}

  // Equal as numbers: 20 and 20.0 are. Whole numbers beyond 2^53 are compared exactly.
  bool operator==(const Amount& other) const {
    if (whole && other.whole) return exact == other.exact;
    return value == other.value && is_exact() && other.is_exact();
  }

  // Equal for equal numbers.
  std::size_t hash() const { return std::hash<double>()(value); }

  // Whether `value` is the number itself.
  bool is_exact() const {
    return !whole ||
           (value < 9.2e18 && value > -9.2e18 && static_cast<std::int64_t>(value) == exact);
  }
};

}  // namespace spillway
