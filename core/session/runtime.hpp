// The interface between a session and a runtime, which plays started jobs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/job.hpp"
#include "session/step.hpp"

namespace spillway {

// Hosts of a machine as Batsim numbers them, by the indices that schedulers use.
struct Hosts {
  std::vector<std::int32_t> nodes;     // Batsim's id of each compute node
  std::vector<std::int32_t> storages;  // and of each storage node
  std::int32_t pfs = -1;               // the parallel file system's host, -1 without one
  std::vector<std::int32_t> io_node;   // I/O node of each compute node, from 0
};

// Plays a job model; an instance serves one conversation. Each call appends what follows to the
// step, which the caller enacts. The session gives it the jobs that start or are to be killed, and
// the simulator's events about running jobs.
class Runtime {
 public:
  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  // Fill the burst buffer that a waiting job was given; the step with its end names the job.
  virtual void stage(const JobPtr& job, const AllocationPtr& allocation, double now_s,
                     Step& step) = 0;
  // Stop transfers to the burst buffer of a waiting job, which loses it.
  virtual void unstage(const JobPtr& job, double now_s, Step& step) = 0;
  // Start a job on its allocation, on its burst buffer if that is staged.
  virtual void start(const JobPtr& job, const AllocationPtr& allocation, double now_s,
                     Step& step) = 0;
  // End a job that requests no nodes, without anything to play.
  virtual void without_nodes(const JobPtr& job, double now_s, Step& step) = 0;
  // End a running job early; its end may come with a later event.
  virtual void kill(const JobPtr& job, double now_s, Step& step) = 0;
  // Give a running job another allocation; false: jobs of this runtime cannot be moved.
  virtual bool move(const JobPtr& job, const AllocationPtr& allocation, double now_s) = 0;

  // Events. False: the event is none of this runtime's.
  virtual bool completed(const std::string& job_id, JobState state, int return_code, double now_s,
                         Step& step) = 0;
  virtual bool submitted(const std::string& job_id, double now_s,
                         Step& step) = 0;             // acknowledged registration
  virtual bool called(double now_s, Step& step) = 0;  // a requested call
  virtual bool heard(const Event& event, double now_s,
                     Step& step) = 0;  // any other (killed, notify, energy ...)

  // Bring the simulator to the state that was decided; called at the end of each message.
  virtual void settle(double now_s, Step& step) = 0;
  // Execute nothing on these hosts (Batsim's ids, ascending) from now on; called whenever they
  // change.
  virtual void outage(const std::vector<std::int32_t>& closed, double now_s, Step& step) = 0;
  // Let a running job continue without these nodes (indices, ascending); false where it cannot.
  virtual bool give_up(const JobPtr& job, const std::vector<std::int32_t>& nodes, double now_s,
                       Step& step) = 0;
  // "", or what in the records of running jobs is inconsistent.
  virtual std::string fault() const = 0;
};

}  // namespace spillway
