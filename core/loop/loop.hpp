#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engines/engine.hpp"
#include "loop/conversation.hpp"
#include "loop/executor.hpp"
#include "loop/extension.hpp"
#include "loop/job_table.hpp"
#include "loop/kernel.hpp"
#include "loop/machines.hpp"
#include "loop/options.hpp"
#include "loop/registry.hpp"
#include "loop/requests.hpp"
#include "loop/server.hpp"
#include "loop/static_jobs.hpp"
#include "loop/submitters.hpp"

namespace spillway::batsim {

/// Batsim's side of a simulation: one platform and some workloads, played for one scheduler.
///
/// A caller submits workloads and events, begins, and runs. All that it gives lives longer than the
/// loop.
class Loop {
 public:
  Loop(Engine& engine, Scheduler& scheduler, Machines& machines, Extension& extension,
       Observer* observer, const LoopOptions& options, JobTable& table);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Adds the jobs of a workload; they are used up.
  void submit(std::shared_ptr<StaticJobs> jobs);
  /// Adds the events of a file.
  void submit(std::vector<Occurrence> events);

  /// Announces all submitters, and the simulation by its first event.
  void begin(Event first);
  /// Without any scheduler: starts every job at once on the first machines.
  void begin_alone();

  /// Simulates until the end; false if nothing can happen any more with the scheduler left waiting.
  /// When `paused`, it has stopped for a reply.
  bool run() { return kernel.run(); }
  bool paused() const { return kernel.paused(); }
  /// Continues with the reply that the scheduler did not have at once; `run` must follow.
  void answer(Reply reply) { conversation.answer(std::move(reply)); }
  /// Lets a scheduler whose policy paused go on; false: it pauses again, else `run` must follow.
  bool go_on() { return conversation.go_on(); }

 private:
  LoopOptions options_;
  Extension& extension_;
  JobTable& table_;
  bool first_submitted_ = false;
  std::int64_t next_progress_ = 0;

  void job_ended(Job& job);

 public:
  // Its parts, for the embedding's rare work.
  Kernel kernel;
  JobRegistry registry;
  Server server;
  Executor executor;
  Requests requests;
  Conversation conversation;

 private:
  std::vector<std::shared_ptr<StaticJobs>> jobs_;
  std::vector<std::unique_ptr<Submitter>> job_submitters_;
  std::vector<std::unique_ptr<Submitter>> event_submitters_;
};

}  // namespace spillway::batsim
