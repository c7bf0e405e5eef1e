#pragma once

#include <cstdint>

#include "loop/way.hpp"

namespace spillway::batsim {

/// Options of a simulation, and the rules by which the two versions of Batsim differ, as far as the
/// loop needs them
/// (`spillway.simulator.options` describes them).
struct LoopOptions {
  /// Decimals of the times of messages.
  int decimals = 6;
  /// Whether an allocation must have as many hosts as the job requests; else its hosts share the
  /// executors.
  bool sized = true;
  /// Whether a call requested for a past moment comes at once; else it is refused.
  bool late_calls = false;
  /// Whether registered jobs and profiles are printed and read again, so that their numbers have
  /// six decimals.
  bool reprints = true;
  /// Whether another kill of a job is confirmed while the first one is under way.
  bool kills_again = false;
  bool forward_profiles = false;
  bool dynamic_jobs = false;
  bool acknowledge_dynamic_jobs = false;
  bool profile_reuse = false;
  bool compute_sharing = false;
  bool storage_sharing = true;
  /// Whether machines have power states.
  bool energy = false;
  /// Without a scheduler, ends of jobs are not reported to anyone.
  bool no_scheduler = false;
  /// Whether the real time in which the scheduler answers is measured.
  bool wall_clock = false;
  /// Most consecutive calls that a scheduler may request while no job runs and no job is to come.
  std::int64_t most_idle_calls = 0;
  /// Ended jobs between two reports of the progress; 0: none.
  std::int64_t progress_every = 0;
  /// Way of a message from the master to itself.
  Way own_way;
};

}  // namespace spillway::batsim
