#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "loop/deadlines.hpp"
#include "loop/extension.hpp"
#include "loop/job.hpp"
#include "loop/kernel.hpp"
#include "loop/machines.hpp"
#include "loop/tasks.hpp"

namespace spillway::batsim {

/// A task of the engine that is not the whole work of a job: one of a chain that a program runs
/// beside others, or the work of a machine that changes its power state.
struct Errand {
  /// The job whose place in the order of tasks it has; `nullptr`: it has `number`.
  JobPtr job;
  std::int64_t number = 0;
  /// Whether the observer counts it.
  bool observed = false;
  Handle handle = -1;
  Action done;
};

using ErrandPtr = std::shared_ptr<Errand>;

/// Executions of jobs: from their start to their end, their walltime or their kill.
class Executor {
 public:
  static constexpr std::int32_t OK = 0;
  static constexpr std::int32_t TIMEOUT = -1;
  static constexpr std::int32_t KILLED = -2;

  /// `ended`: called with a job that has ended on completion, at its walltime, or with a return
  /// code.
  Executor(Kernel& kernel, Machines& machines, Extension& extension, Observer* observer,
           std::function<void(Job&)> ended);

  /// Starts a job now; `prepared` is its task, if its work is one.
  void start(Job& job, Placement place, Prepared& prepared);

  /// Kills a running job now; returns its progress, as it is reported.
  Progress stop(Job& job);

  /// Runs a part of a program: a pause or a parallel task, which may end with the walltime.
  void run_part(Job& job, const Work& work);

  /// Waits, but no longer than the walltime allows; exactly as long is too long.
  void sleep(Job& job, double seconds);

  /// Waits for a message of the scheduler, which is looked for at every multiple of `seconds`; the
  /// walltime may end first.
  void poll(Job& job, double seconds);
  /// Wakes a job that waits for a message: it takes it at its next poll, if its walltime allows.
  void message_came(Job& job);

  /// Ends a job now with a return code; 0: with the return code of its profile.
  void end(Job& job, std::int32_t code);

  /// Gives an errand to the engine at the end of this instant.
  void run(const ErrandPtr& errand, const Prepared& prepared);
  /// Takes an errand from the engine, if it is there.
  void cancel(Errand& errand);

  /// Limits what a program runs side by side to the walltime, and gives it a place in the order of
  /// tasks.
  void begin_chains(Job& job);
  /// Ends that, and counts down the walltime.
  void end_chains(Job& job);

 private:
  struct Running {
    Job* job = nullptr;
    ErrandPtr errand;
  };

  void launch(Job& job, const Prepared& prepared);
  void put(Running running, const Prepared& prepared);
  void flush();
  void tasks_ended(const std::vector<Handle>& handles);
  void task_ended(Job& job);
  void walltime_reached(const std::vector<Job*>& jobs);
  double drop_tasks(Job& job);
  double cancel_task(Handle handle);
  void slept(Job& job, std::int32_t code);
  void done(Job& job, std::int32_t code);
  void close(Job& job, bool stopped);

  Kernel& kernel_;
  Machines& machines_;
  Extension& extension_;
  Observer* observer_;
  std::function<void(Job&)> ended_;
  Deadlines deadlines_;
  std::unordered_map<Handle, Running> waiting_;
  /// Tasks that start in this instant, in their order; the vector of tasks keeps its room.
  std::vector<Running> new_;
  std::vector<Task> new_tasks_;
  Prepared part_;
};

}  // namespace spillway::batsim
