// Sub-jobs, which replace a job in the simulator's registry: named, registered and executed only
// here.
//
// The sub-jobs of job `w0!15` are in a workload of their own, `w0%15`: `w0%15!0`, `w0%15!1` and so
// on; profiles are named by their kind, `delay_profile_0`. Each sub-job is registered and executed
// by messages of its own: the profile unless it is known, then all jobs, then all executions.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/messages.hpp"
#include "model/resource.hpp"
#include "session/description.hpp"

namespace spillway {

constexpr double SHORTEST_WALLTIME_S =
    1e-6;  // Batsim prints walltimes with six decimals and aborts on 0
constexpr char OWN_MARK =
    '%';  // replaces the `!` of a job's id in the name of the job's own workload

// One sub-job: its hosts (Batsim's ids, ascending), and the host of each storage label of its
// profile.
struct SubTask {
  Ids hosts;
  std::shared_ptr<const Request::Storage> storage;
};

// A profile, and the sub-jobs that run it side by side.
struct Lowered {
  DescriptionPtr profile;
  std::vector<SubTask> tasks;
};

class SubJobs {
 public:
  // `reuse`: whether a profile may be used twice; otherwise Batsim deletes it with its job, and it
  // is registered anew.
  SubJobs(const std::string& job_id, bool reuse);

  // End of the job's walltime (s).
  double deadline_s = NEVER;

  // Whether no time is left.
  bool overdue(double now_s) const { return deadline_s - now_s < SHORTEST_WALLTIME_S; }
  // Number of sub-jobs so far.
  std::int64_t count() const { return count_; }
  // Id of a sub-job.
  std::string id(std::int64_t number) const { return prefix_ + std::to_string(number); }

  // Run a profile as sub-jobs side by side: append the requests, return the number of the first.
  // `walltime_s` is the time that they may take; infinite for no limit.
  std::int64_t run(const Lowered& lowered, double walltime_s, double now_s,
                   std::vector<Request>& requests);

 private:
  struct Known {
    ProfilePtr profile;
    DescriptionPtr description;  // kept, so that its identity stays its own
  };

  // The profile of a description, and whether it is registered already.
  ProfilePtr named(const DescriptionPtr& description, bool& known);

  std::string prefix_;
  std::shared_ptr<const Origin> origin_;
  bool reuse_;
  std::int64_t count_ = 0;
  std::unordered_map<std::string, Known> by_key_;
  std::unordered_map<const void*, Known> by_identity_;
  std::unordered_map<std::string, std::int64_t> kinds_;
};

}  // namespace spillway
