#pragma once

#include <cstdint>
#include <string>

#include "loop/executor.hpp"
#include "loop/extension.hpp"
#include "loop/kernel.hpp"
#include "loop/machines.hpp"
#include "loop/options.hpp"
#include "loop/registry.hpp"
#include "loop/server.hpp"

namespace spillway::batsim {

/// Carries out the scheduler's requests, by the rules that Batsim enforces by aborting: each broken
/// one is a `Fault` that names the request, its job and its place in the reply.
class Requests {
 public:
  Requests(Kernel& kernel, Server& server, JobRegistry& registry, Machines& machines,
           Executor& executor, Extension& extension, const LoopOptions& options)
      : kernel_(kernel),
        server_(server),
        registry_(registry),
        machines_(machines),
        executor_(executor),
        extension_(extension),
        options_(options),
        allocations_(machines) {}

  /// Carries out a request.
  void handle(const Request& request);

  /// Refuses a registration that is not allowed; `closed`: the scheduler has announced that it
  /// registers no more.
  void check_registration(const Request& request, bool closed) const;

  /// Starts a job without any scheduler on the first machines; throws `Fault`.
  void start_alone(Job& job);

  /// Sends a requested call, unless the simulation is at its end.
  void call(const std::string& name, bool last);

 private:
  void carry_out(const Request& request);
  void execute(const Request& request);
  void reject(const Request& request);
  void kill(const Request& request);
  void call_later(const Request& request);
  void register_profile(const Request& request);
  void register_job(const Request& request);
  void set_metadata(const Request& request);

  Placement placed_for(const Job& job, const Request& request);
  void merge_extra(const Job& job, const Request& request, const Placement& place);
  void check_free(const Allocation& allocation) const;

  Kernel& kernel_;
  Server& server_;
  JobRegistry& registry_;
  Machines& machines_;
  Executor& executor_;
  Extension& extension_;
  const LoopOptions& options_;
  Allocations allocations_;
  Prepared prepared_;
};

}  // namespace spillway::batsim
