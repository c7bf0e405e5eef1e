#pragma once

#include "engines/task.hpp"
#include "loop/allocation.hpp"
#include "loop/machines.hpp"
#include "model/profile.hpp"

namespace spillway::batsim {

/// A parallel task of a job, before it is given to an engine.
struct Prepared {
  Task task;
  /// Whether it surely has no work: it ends in the instant of its start.
  bool nothing = false;
};

/// The task of a profile on the executors of a job; throws `Fault` with the reason if it cannot run
/// there.
void prepare(const Work& work, const Placement& place, const Machines& machines,
             Prepared& prepared);

/// Refuses computation on storage hosts: throws `Fault` with the machine.
///
/// Batsim compares the work of each position with the machine at that position of the allocation,
/// mapped or not.
void check_flops(const Work& work, const Task& task, const Placement& place,
                 const Machines& machines);

/// One task over the union of a job's machines and those of its additional I/O, so that both
/// advance together
/// (`additional_io_job`). `prepared` has the job's task; throws `Fault`.
void merge(Prepared& prepared, const Work& work, const Placement& place, const Work& io,
           const Placement& io_place, const Machines& machines);

}  // namespace spillway::batsim
