// Record of a job that ran, from the scheduler's view.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/job.hpp"
#include "model/messages.hpp"

namespace spillway {

constexpr double NOT_YET = std::numeric_limits<double>::quiet_NaN();

// Times at which a job got its burst buffer, had it filled, and gave its nodes back (s).
struct BufferTimes {
  double given_s = NOT_YET;
  double filled_s = NOT_YET;
  double off_nodes_s = NOT_YET;
};

// A sum or a number for each of few stages, in the order in which they came.
template <class Number>
class ByStage {
 public:
  Number& operator[](const std::string& stage) {
    for (auto& entry : entries_) {
      if (entry.first == stage) return entry.second;
    }
    entries_.emplace_back(stage, Number());
    return entries_.back().second;
  }
  const std::vector<std::pair<std::string, Number>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::string, Number>> entries_;
};

// See `spillway.schedulers.jobmodels.record.JobRecord`, which has the same members.
struct Record {
  JobPtr job;
  AllocationPtr allocation;
  double start_s = NOT_YET;
  double end_s = NOT_YET;
  JobState state = JobState::RUNNING;
  int return_code = 0;
  bool whole = false;
  std::optional<BufferTimes> staged;
  std::int64_t sub_jobs = 0;
  std::int64_t operations = 0;
  ByStage<double> seconds;
  ByStage<double> moved_bytes;
  double io_wait_s = 0.0;
  double idle_end_s = NOT_YET;
  PayloadPtr state_shown;
  PayloadPtr resumed;
  ByStage<std::int64_t> through;
  std::vector<double> computed_s;
  std::int64_t drained = 0;
};

}  // namespace spillway
