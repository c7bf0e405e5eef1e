// Running jobs, the parts of their operations that run, and their turns.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "session/job_model.hpp"
#include "session/lowering.hpp"
#include "session/sub_jobs.hpp"

namespace spillway {

// The account of a job at the I/O gate, which outlives an attempt to stage in. Transfers beside a
// computation have an account of their own, with the next number, and outlive the job's.
struct Tenant {
  std::int64_t number = 0;
  std::int32_t moving = 0;  // its turns that have begun and not been released
  bool dropped = false;     // whether it lost its burst buffer while some of them moved
};

using TenantPtr = std::shared_ptr<Tenant>;

struct Outcome {
  JobState state = JobState::COMPLETED_SUCCESSFULLY;
  int return_code = 0;

  bool operator==(const Outcome& other) const {
    return state == other.state && return_code == other.return_code;
  }
};

constexpr Outcome SUCCESS{JobState::COMPLETED_SUCCESSFULLY, 0};
constexpr Outcome KILLED{JobState::COMPLETED_KILLED, -2};
constexpr Outcome TIMED_OUT{JobState::COMPLETED_WALLTIME_REACHED, -1};

struct Part;

// A running job, or one that waits while its burst buffer is being filled, or full (`staging`).
struct Process {
  // The programs that a job runs one after another.
  enum class Phase : std::uint8_t { ONLY_STAGE_IN, STAGE_IN, WORK, OFF_NODES, STAGE_OUT, OVER };

  Process(JobPtr its_job, AllocationPtr its_allocation, SubJobs its_sub_jobs, double now_s)
      : job(std::move(its_job)),
        allocation(std::move(its_allocation)),
        sub_jobs(std::move(its_sub_jobs)),
        entered_s(now_s) {
    record.job = job;
    record.allocation = allocation;
    record.start_s = now_s;
  }

  std::int64_t number = 0;  // processes are in the order of their numbers
  JobPtr job;
  AllocationPtr allocation;
  Record record;
  SubJobs sub_jobs;
  double entered_s;  // when it became a process (s)
  TenantPtr tenant;  // its account at the I/O gate, once it has one
  ProgramPtr program;
  Phase phase = Phase::OVER;

  Operation operation;                       // the present one
  std::int64_t operations = 0;               // those that take time so far
  double ready_s = 0.0;                      // when it was reached (s)
  double began_s = NOT_YET;                  // when it began, in its turn (s)
  std::vector<Part*> live;                   // its running parts
  std::vector<Part*> beside;                 // parts that run beside it
  std::vector<std::int64_t> waiting;         // its turns that have not come
  std::vector<std::int64_t> waiting_beside;  // turns of transfers beside it that have not come
  std::int64_t timer = -1;  // number of the timer that ends its present wait, or -1

  bool staging = false;            // whether it has no nodes yet
  bool over = false;               // whether its program has ended
  bool stopped = false;            // whether a kill of its running parts was requested
  bool watched = false;            // whether a call at the end of its walltime was requested
  bool spoilt = false;             // whether one of its storage nodes went out
  std::optional<Outcome> outcome;  // the final state, once it is clear
  Reason reason;                   // why it cannot continue

  Ids hosts;  // of all its nodes
  // Transfers on all its nodes in the simulator's terms, by their ends and bytes: most are run more
  // than once.
  std::map<std::tuple<Place, Place, double, std::int64_t>, std::shared_ptr<const Lowered>>
      transfers;

  // Whether no time is left for an operation that begins now; the first of a job always begins.
  bool late(double now_s) const { return now_s > record.start_s && sub_jobs.overdue(now_s); }
  // Nodes of an operation.
  const NodeList& nodes_of(const Timed& timed) const {
    return timed.nodes ? *timed.nodes : allocation->nodes;
  }
};

using ProcessPtr = std::shared_ptr<Process>;

// An operation, or its part on some nodes, that runs: the one record of its sub-jobs.
struct Part {
  ProcessPtr process;
  std::shared_ptr<const Timed> operation;  // null: the job as it was submitted
  std::int64_t number = 0;                 // of the operation among those of its job
  std::int64_t first = 0;                  // number of its first sub-job
  std::vector<bool> ended;                 // by sub-job
  std::size_t left = 0;                    // sub-jobs that have not ended
  double began_s = 0.0;
  bool beside = false;
  std::int64_t turn = -1;  // the turn at the I/O gate that it holds, or -1
  bool abandoned = false;  // whether its job continues, or has ended, without it
};

using PartPtr = std::shared_ptr<Part>;

// A sub-job that has not ended: its part, and its place there.
struct SubJob {
  PartPtr part;
  std::size_t place = 0;
};

// A part of an operation that waits for its turn at an I/O node.
struct Queued {
  ProcessPtr process;
  std::shared_ptr<const Timed> operation;
  NodeIndices nodes;
  bool beside = false;
  std::int64_t number = 0;  // of the operation among those of its job
};

}  // namespace spillway
