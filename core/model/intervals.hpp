#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spillway {

/// Numbers, ascending, as Batsim prints a set of them: `0-3 5 7-8`.
std::string intervals(const std::vector<std::int32_t>& numbers);

}  // namespace spillway
