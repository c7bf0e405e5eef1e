#pragma once

namespace spillway {

/// The decimal number of so many digits after the point that is nearest to a number, as Python's
/// `round` finds it: exact, ties to the even digit. `decimals` is 0 to 15.
double rounded(double value, int decimals);

}  // namespace spillway
