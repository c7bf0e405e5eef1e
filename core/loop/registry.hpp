#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "loop/extension.hpp"
#include "loop/job.hpp"

namespace spillway::batsim {

/// The jobs that the scheduler may name, by full id: from their registration, or their submission,
/// until they have been reported as ended.
class JobRegistry {
 public:
  explicit JobRegistry(Extension& extension) : extension_(extension) {}

  void enter(JobPtr job);
  /// Drops a job that has been reported as ended.
  void forget(const Job& job);

  /// The job of that id; `nullptr` if it has none.
  JobPtr known(const std::string& id) const;
  /// The job of that id, maybe in another spelling, or submitted later; throws `Fault` with the
  /// reason.
  JobPtr find(const std::string& id);
  /// The same; `nullptr` and the reason.
  JobPtr find(const std::string& id, std::string& reason);

  /// Jobs of files that were submitted and neither executed nor rejected, in the order of their
  /// submission.
  std::vector<JobPtr> waiting() const;

  /// Ids of the jobs that run on a machine, in the order in which they were entered.
  std::vector<std::string> running_on(std::int32_t machine) const;

 private:
  Extension& extension_;
  std::unordered_map<std::string, JobPtr> jobs_;
  std::int64_t entries_ = 0;
};

}  // namespace spillway::batsim
