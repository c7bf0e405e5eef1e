#include "loop/loop.hpp"

#include <utility>

namespace spillway::batsim {

Loop::Loop(Engine& engine, Scheduler& scheduler, Machines& machines, Extension& extension,
           Observer* observer, const LoopOptions& options, JobTable& table)
    : options_(options),
      extension_(extension),
      table_(table),
      next_progress_(options.progress_every),
      kernel(engine, options.own_way),
      registry(extension),
      server(kernel, registry, table, extension, options_),
      executor(kernel, machines, extension, observer, [this](Job& job) { job_ended(job); }),
      requests(kernel, server, registry, machines, executor, extension, options_),
      conversation(kernel, server, requests, scheduler, options_) {}

void Loop::submit(std::shared_ptr<StaticJobs> jobs) {
  const auto first = [this] {
    if (!std::exchange(first_submitted_, true)) extension_.first_submission();
  };
  jobs_.push_back(jobs);
  job_submitters_.push_back(
      std::make_unique<JobSubmitter>(kernel, server, registry, std::move(jobs), first));
  ++server.job_submitters;
}

void Loop::submit(std::vector<Occurrence> events) {
  event_submitters_.push_back(
      std::make_unique<EventSubmitter>(kernel, server, extension_, std::move(events)));
  ++server.event_submitters;
}

void Loop::begin(Event first) {
  kernel.after_receive = [this] { conversation.maybe_send(); };
  for (const auto& submitter : job_submitters_) submitter->begin();
  for (const auto& submitter : event_submitters_) submitter->begin();
  conversation.send(std::move(first));
}

void Loop::begin_alone() {
  for (const auto& jobs : jobs_) {
    while (jobs->size() > 0) {
      const JobPtr job = jobs->pop_first();
      registry.enter(job);
      requests.start_alone(*job);
    }
  }
}

void Loop::job_ended(Job& job) {
  if (!options_.no_scheduler && job.state != JobState::COMPLETED_KILLED) {
    Job* const ended = &job;
    kernel.post(job.allocation->way, [this, ended] { server.job_completed(*ended); });
  }
  if (next_progress_ > 0 && table_.totals().jobs >= next_progress_) {
    next_progress_ += options_.progress_every;
    extension_.progress(kernel.clock_s(), table_.totals().jobs);
  }
}

}  // namespace spillway::batsim
