#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/engine.hpp"
#include "loop/allocation.hpp"
#include "loop/timers.hpp"
#include "model/job_facts.hpp"

namespace spillway::batsim {

struct Job;

/// The jobs whose walltimes end at one moment, because their tasks began together: they share a
/// timer.
struct Deadline {
  /// Rest of the walltimes, and the begin of the tasks, s.
  double budget_s = -1.0;
  double made_s = -1.0;
  Timer timer;
  std::vector<Job*> jobs;
  /// Number of the jobs still watched.
  std::int64_t live = 0;
};

/// One job, from its registration until it has been reported to the scheduler.
struct Job : JobFacts, std::enable_shared_from_this<Job> {
  using JobFacts::JobFacts;
  explicit Job(JobFacts facts) : JobFacts(std::move(facts)) {}

  /// Its object as it is sent with the submission; none if it will not be sent.
  PayloadPtr source;
  JobState state = JobState::NOT_SUBMITTED;
  bool kill_requested = false;
  std::string metadata;
  /// Full name of its profile where that is of another workload.
  std::string foreign_profile;
  /// Place among the jobs that the scheduler may name.
  std::int64_t entry = 0;

  /// Results of its execution, s and J; -1: none yet, or not measured.
  AllocationPtr allocation;
  double start_s = -1.0;
  double runtime_s = -1.0;
  std::int32_t return_code = -1;
  double energy_j = -1.0;

  /// Rest of the walltime of a running job, s; negative: no limit (any more).
  double budget_s = -1.0;
  /// The engine's task that it waits for, and that task's place among all timers and tasks.
  Handle handle = -1;
  std::int64_t task_number = 0;
  /// The timer that it waits for; since when, and with polls of which interval (s, 0: none).
  Timer timer;
  double wait_start_s = 0.0;
  double poll_s = 0.0;
  /// The end of the walltime for the task that it runs.
  std::shared_ptr<Deadline> limit;
  /// Whether its profile is a program that the embedding runs, and the placement of its parts.
  bool programmed = false;
  Placement place;

  bool complete() const { return state >= JobState::COMPLETED_SUCCESSFULLY; }
};

using JobPtr = std::shared_ptr<Job>;

}  // namespace spillway::batsim
