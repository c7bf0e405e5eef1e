#include "model/intervals.hpp"

namespace spillway {

std::string intervals(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (std::size_t at = 0; at < numbers.size();) {
    std::size_t last = at;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ' ';
    text += std::to_string(numbers[at]);
    if (last > at) {
      text += '-';
      text += std::to_string(numbers[last]);
    }
    at = last + 1;
  }
  return text;
}

}  // namespace spillway
