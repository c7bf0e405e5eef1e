#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log/rows.hpp"
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
  explicit JobTable(Rows::Sink sink = {}, bool old_rows = true)
      : rows_(std::move(sink)), old_rows_(old_rows) {}

  /// Adds a job that has ended or was rejected.
  void add(const Job& job);

  const Totals& totals() const { return totals_; }
  const std::unordered_map<std::string, Span>& spans() const { return spans_; }
  /// Begins and ends, in turn, of the rows of jobs that are no sub-jobs, in bytes from the first
  /// row on.
  const std::vector<std::int64_t>& own_places() const { return own_places_; }

  /// Hands out the rows collected so far.
  void settle() { rows_.settle(); }

  /// The row that a job has when it is rejected.
  std::string rejected_row(const Job& job) const;

 private:
  void write(const Job& job);
  void write_rejected(Rows& rows, const Job& job) const;
  void write_request(Rows& rows, const Job& job) const;
  std::string profile_of(const Job& job) const;
  std::string metadata_of(const Job& job) const;
  void count(const Job& job);
  void note_span(const Job& job);

  Rows rows_;
  bool old_rows_;
  Totals totals_;
  std::vector<std::int64_t> own_places_;
  /// By name of the workload.
  std::unordered_map<std::string, Span> spans_;
};

}  // namespace spillway::batsim
