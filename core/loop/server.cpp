#include "loop/server.hpp"

#include <utility>

#include "loop/fault.hpp"
#include "model/rounding.hpp"

namespace spillway::batsim {

double Server::now_s() const { return rounded(kernel_.clock_s(), options_.decimals); }

Event& Server::pend(Event::Kind kind) {
  Event& event = pending_.emplace_back();
  event.kind = kind;
  event.time_s = now_s();
  return event;
}

// ------------------------------------------------------------------ what it receives

void Server::job_submitter_left() {
  if (--job_submitters == 0) pend(Event::Kind::NO_MORE_JOBS);
}

void Server::event_submitter_left() {
  if (--event_submitters == 0) pend(Event::Kind::NO_MORE_EVENTS);
}

void Server::jobs_submitted(const std::vector<JobPtr>& jobs) {
  submitted += static_cast<std::int64_t>(jobs.size());
  for (const JobPtr& job : jobs) announce(*job);
}

void Server::announce(Job& job) {
  job.state = JobState::SUBMITTED;
  Event& event = pend(Event::Kind::JOB_SUBMITTED);
  event.job_id = job.id;
  event.job = job.shared_from_this();
  event.payload = std::move(job.source);
  job.source = nullptr;
  if (options_.forward_profiles) event.profile = job.profile->source;
}

void Server::job_completed(Job& job) {
  --running;
  ++completed;
  Event& event = pend(Event::Kind::JOB_COMPLETED);
  event.job_id = job.id;
  event.state = job.state;
  event.return_code = job.return_code;
  event.alloc = job.allocation->ids;
  table_.add(job);
  reported_.push_back(job.shared_from_this());
}

void Server::job_rejected(Job& job) {
  job.state = JobState::REJECTED;
  ++completed;
  table_.add(job);
  reported_.push_back(job.shared_from_this());
}

void Server::killing_done(const std::vector<JobPtr>& jobs, std::shared_ptr<Killing> killing) {
  for (const JobPtr& job : jobs) {
    if (job->state == JobState::COMPLETED_KILLED) job_completed(*job);
    killing->job_ids.push_back(job->id);
  }
  pend(Event::Kind::JOB_KILLED).killing = std::move(killing);
  --killers;
}

void Server::call(const std::string& name, bool last) {
  Event& event = pend(Event::Kind::REQUESTED_CALL);
  event.job_id = name;
  event.last = last;
  if (last) --waiters;
}

void Server::tell(PayloadPtr event) { pend(Event::Kind::OTHER).payload = std::move(event); }

// ------------------------------------------------------------------ messages to the scheduler

bool Server::finished() const {
  return forced || (completed == submitted && job_submitters == 0 && event_submitters == 0 &&
                    (!options_.dynamic_jobs || registration_finished) && running == 0 &&
                    switching == 0 && waiters == 0 && killers == 0);
}

bool Server::next_message(std::vector<Event>& events) {
  if (!ready_ || !kernel_.mailbox_empty() || kernel_.stopped()) return false;
  if (forced) pending_.clear();
  if (pending_.empty()) {
    if (ends_sent_ || !finished()) return false;
    pend(Event::Kind::SIMULATION_ENDS);
    ends_sent_ = true;
  }
  events.clear();
  events.swap(pending_);
  count_idle_calls(events);
  ready_ = false;
  forget();
  return true;
}

/// Refuses a scheduler that is called for ever while no other event can happen.
void Server::count_idle_calls(const std::vector<Event>& events) {
  const bool called = events.back().kind == Event::Kind::REQUESTED_CALL;
  if (idle_calls_ == 0 && !called) return;
  const bool idle = called && running == 0 && job_submitters == 0 && event_submitters == 0 &&
                    switching == 0 && killers == 0;
  if (!idle || completed > completed_before_) {
    completed_before_ = completed;
    idle_calls_ = 0;
    return;
  }
  if (++idle_calls_ > options_.most_idle_calls) {
    throw Fault(Rule::IDLE_CALLS,
                {double(options_.most_idle_calls), double(submitted - completed)});
  }
}

void Server::forget() {
  for (const JobPtr& job : reported_) registry_.forget(*job);
  if (!options_.profile_reuse) {
    for (JobPtr& job : reported_) stale_.push_back(std::move(job));
  }
  reported_.clear();
}

void Server::reply_done() {
  ready_ = true;
  for (const JobPtr& job : stale_) {
    if (job->profile->children.empty() && job->origin->kind == Origin::Kind::FILE) {
      job->profile->dropped = true;
    } else if (job->origin->kind != Origin::Kind::LOCAL) {
      extension_.drop_profile(*job);
    }
  }
  stale_.clear();
  if (!ends_sent_) return;
  if (!forced) check_end();
  kernel_.stop();
}

/// Checks that nothing is left after the last reply.
void Server::check_end() const {
  const std::int64_t waiting = submitted - completed;
  if (running == 0 && switching == 0 && killers == 0 && waiters == 0 && waiting == 0) return;
  throw Fault(Rule::REQUESTS_AT_END, {double(running), double(switching), double(killers),
                                      double(waiters), double(waiting)});
}

}  // namespace spillway::batsim
