// Starts and ends of all jobs of a conversation, for jobs that depend on them.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

namespace spillway {

// Start and end of a job (s); not a number: not yet. A failed end is negative.
struct Times {
  double started_s = std::numeric_limits<double>::quiet_NaN();
  double ended_s = std::numeric_limits<double>::quiet_NaN();
};

// Times by job id. They are kept for the whole conversation, so an id that ends in a number costs
// no text of its own: the jobs of a workload lie in blocks of neighbouring numbers.
class TimesOfJobs {
 public:
  // The times of a job; null: the id is new.
  const Times* find(const std::string& job_id) const {
    const Name name(job_id);
    if (!name.numbered) {
      const auto found = others_.find(job_id);
      return found == others_.end() ? nullptr : &found->second;
    }
    const auto stem = stems_.find(name.stem);
    if (stem == stems_.end()) return nullptr;
    const auto block = stem->second.find(name.number / SIZE);
    if (block == stem->second.end() || !(block->second.known >> name.number % SIZE & 1))
      return nullptr;
    return &block->second.times[name.number % SIZE];
  }

  // The times of a job, which is known from now on, and whether it was not before.
  std::pair<Times&, bool> enter(const std::string& job_id) {
    const Name name(job_id);
    if (!name.numbered) {
      const auto [found, fresh] = others_.try_emplace(job_id);
      return {found->second, fresh};
    }
    Block& block = stems_[name.stem][name.number / SIZE];
    const std::uint32_t bit = std::uint32_t{1} << name.number % SIZE;
    const bool fresh = !(block.known & bit);
    block.known |= bit;
    return {block.times[name.number % SIZE], fresh};
  }

 private:
  static constexpr std::uint64_t SIZE = 32;  // jobs of a block, one bit each
  static constexpr std::size_t DIGITS = 18;  // of a number, at most

  // An id as its stem and the number at its end, if its text follows from both.
  struct Name {
    explicit Name(const std::string& job_id) {
      std::size_t begin = job_id.size();
      while (begin > 0 && job_id[begin - 1] >= '0' && job_id[begin - 1] <= '9') --begin;
      const std::size_t digits = job_id.size() - begin;
      numbered = digits > 0 && digits <= DIGITS && (digits == 1 || job_id[begin] != '0');
      if (!numbered) return;
      stem = job_id.substr(0, begin);
      for (std::size_t at = begin; at < job_id.size(); ++at)
        number = number * 10 + std::uint64_t(job_id[at] - '0');
    }
    std::string stem;
    std::uint64_t number = 0;
    bool numbered = false;
  };

  struct Block {
    std::array<Times, SIZE> times;
    std::uint32_t known = 0;
  };

  std::unordered_map<std::string, std::unordered_map<std::uint64_t, Block>> stems_;
  std::unordered_map<std::string, Times> others_;
};

}  // namespace spillway
