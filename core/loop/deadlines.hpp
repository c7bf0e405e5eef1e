#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "loop/job.hpp"
#include "loop/kernel.hpp"

namespace spillway::batsim {

/// Ends of walltimes: one timer for all tasks that begin together and reach their walltime at the
/// same moment.
class Deadlines {
 public:
  /// `reached`: called with the jobs at the end of their walltimes; they are not watched any more.
  Deadlines(Kernel& kernel, std::function<void(const std::vector<Job*>&)> reached)
      : kernel_(kernel), reached_(std::move(reached)), last_(std::make_shared<Deadline>()) {}

  /// Limits a task that begins now to what is left of its job's walltime, if it has one. A timer
  /// gets this number.
  void limit(Job& job, std::int64_t number);

  /// Stops watching a job.
  void release(Job& job);

 private:
  void end(const std::shared_ptr<Deadline>& deadline);

  Kernel& kernel_;
  std::function<void(const std::vector<Job*>&)> reached_;
  std::shared_ptr<Deadline> last_;
};

}  // namespace spillway::batsim
