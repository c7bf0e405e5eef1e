#pragma once

#include <string>

namespace spillway {

/// The decimal number of so many digits after the point that is nearest to a number, as Python's
/// `round` finds it: exact, ties to the even digit. `decimals` is 0 to 15.
double rounded(double value, int decimals);

/// Decimals of the numbers in tables and in what Batsim 4 prints.
constexpr int PRINTED_DECIMALS = 6;

/// Appends a number with six decimals, as `printf` does.
void print(std::string& text, double value);

}  // namespace spillway
