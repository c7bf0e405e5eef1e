#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "loop/job.hpp"

namespace spillway::batsim {

/// Sums over all jobs, s. Executed jobs are all but the rejected ones.
struct Totals {
  std::int64_t jobs = 0;
  std::int64_t rejected = 0;
  std::int64_t success = 0;
  double waiting_s = 0.0;
  double turnaround_s = 0.0;
  double slowdown = 0.0;
  double max_waiting_s = 0.0;
  double max_turnaround_s = 0.0;
  double max_slowdown = 0.0;
  double makespan_s = 0.0;
};

/// First start and last end of a local workload's jobs (s, as printed), and the sum of their run
/// times.
struct Span {
  double start_s = 0.0;
  double finish_s = 0.0;
  double received_s = 0.0;
  std::int64_t jobs = 0;
  /// Machines of the job that ended last, an interval set.
  std::string nodes;
};

/// Rows of `_jobs.csv`, in the order in which the ends of jobs reach the server, and the sums over
/// them.
class JobTable {
 public:
  /// `sink` is given the rows, many at a time; without one only the sums are kept. `old_rows`:
  /// profiles are named without their workload, and metadata are in quotes (Batsim 4).
  explicit JobTable(std::function<void(const std::string&)> sink = {}, bool old_rows = true)
      : sink_(std::move(sink)), old_rows_(old_rows) {}

  /// Adds a job that has ended or was rejected.
  void add(const Job& job);

  const Totals& totals() const { return totals_; }
  const std::unordered_map<std::string, Span>& spans() const { return spans_; }

  /// Hands out the rows collected so far.
  void settle();

 private:
  void add_rejected(const Job& job);
  std::string profile_of(const Job& job) const;
  void end_row(const Job& job);
  void add_request(const Job& job);
  void count(const Job& job);
  void note_span(const Job& job);

  std::function<void(const std::string&)> sink_;
  bool old_rows_;
  Totals totals_;
  /// By name of the workload.
  std::unordered_map<std::string, Span> spans_;
  std::string text_;
};

}  // namespace spillway::batsim
