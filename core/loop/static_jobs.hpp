#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "loop/job.hpp"

namespace spillway::batsim {

/// Jobs of a workload's file still to be submitted: in the order of the file, or of their
/// submissions once `sort` was called. They are small until then: each access makes a job, except
/// of those that were named before their time.
class StaticJobs {
 public:
  /// `in_order`: jobs of one instant keep the order of the file.
  explicit StaticJobs(bool in_order = false) : in_order_(in_order) {}

  void append(const Job& job);

  std::size_t size() const { return rows_.size() - begin_; }
  /// Submission time of the first job, s.
  double next_s() const { return rows_[begin_].subtime_s; }
  /// The job at a place from the first one still to be submitted.
  JobPtr at(std::size_t place) const;
  /// Orders them by submission time, then by full id compared as text (`w0!10` before `w0!9`) or as
  /// they are in the file.
  void sort();
  /// Removes the first job and returns it.
  JobPtr pop_first();
  /// The job of that name; `nullptr` if it is not among them. What is changed in it stays.
  JobPtr find(const std::string& name);
  /// The profiles of all jobs.
  std::vector<ProfilePtr> profiles() const;

 private:
  struct Row {
    std::shared_ptr<const Origin> origin;
    std::string name;
    /// Kept beside its name in the workload, because a dropped profile serves the jobs that have
    /// it.
    ProfilePtr profile;
    PayloadPtr source;
    double subtime_s = 0.0;
    double walltime_s = NO_WALLTIME;
    std::int32_t res = 0;
  };

  JobPtr made(const Row& row) const;

  bool in_order_;
  std::vector<Row> rows_;
  std::size_t begin_ = 0;
  /// Places by name, once a job was looked for.
  std::unordered_map<std::string, std::size_t> places_;
  std::unordered_map<std::string, JobPtr> named_;
};

}  // namespace spillway::batsim
