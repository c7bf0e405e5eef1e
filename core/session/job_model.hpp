// What a runtime asks of a job model and of its caller; their own language implements it.
#pragma once
#include <string>
#include <vector>

#include "session/operation.hpp"
#include "session/record.hpp"

namespace spillway {

// Checkpoints from which an attempt resumes; `state` null: it begins at the beginning.
struct Resumed {
  PayloadPtr state;
  bool buffered =
      false;  // whether they are in its burst buffers, and so is the data that it had staged in
};

// What a killed attempt leaves to the next one, and the computing time that this adds to it (s).
struct Left {
  PayloadPtr state;
  double kept_s = 0.0;
};

class JobModel {
 public:
  JobModel() = default;
  JobModel(const JobModel&) = delete;
  JobModel& operator=(const JobModel&) = delete;
  virtual ~JobModel() = default;

  // Programs of a job: fill its burst buffer, work, empty its burst buffer.
  virtual ProgramPtr stage_in(const JobPtr& job) = 0;
  virtual ProgramPtr program(const JobPtr& job, const AllocationPtr& allocation, double start_s,
                             const PayloadPtr& resumed) = 0;
  virtual ProgramPtr stage_out(const JobPtr& job) = 0;

  // A stream of bytes to the file system that is merged into a submitted job.
  virtual std::shared_ptr<const AdditionalIo> stream(const JobPtr& job, const Ids& hosts,
                                                     const PayloadPtr& bytes) = 0;
  // Plan to continue without these nodes; false where the published state cannot.
  virtual bool shrink(const PayloadPtr& state, const std::vector<std::int32_t>& nodes) = 0;

  // Restarts: checkpoints that survived, hosts that went out, what a killed attempt leaves.
  virtual Resumed resumed(const PayloadPtr& left) = 0;
  virtual void went_out(const std::vector<std::int32_t>& hosts, double now_s) = 0;
  virtual Left left(const Record& record) = 0;

  // Called with each job's record when the job has ended.
  virtual void ended(const Record& record) = 0;
};

}  // namespace spillway
