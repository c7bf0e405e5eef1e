#include "loop/executor.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loop/fault.hpp"
#include "model/rounding.hpp"

#include "model/precision.hpp"

namespace spillway::batsim {
namespace {

/// Replacement of a runtime of 0.
constexpr double SHORTEST_RUNTIME_S = 1e-5;

JobState end_state(std::int32_t code) {
  switch (code) {
    case Executor::OK:
      return JobState::COMPLETED_SUCCESSFULLY;
    case Executor::TIMEOUT:
      return JobState::COMPLETED_WALLTIME_REACHED;
    case Executor::KILLED:
      return JobState::COMPLETED_KILLED;
    default:
      return JobState::COMPLETED_FAILED;
  }
}

}  // namespace

Executor::Executor(Kernel& kernel, Machines& machines, Extension& extension, Observer* observer,
                   std::function<void(Job&)> ended)
    : kernel_(kernel),
      machines_(machines),
      extension_(extension),
      observer_(observer),
      ended_(std::move(ended)),
      deadlines_(kernel, [this](const std::vector<Job*>& jobs) { walltime_reached(jobs); }) {
  kernel_.before_advance = [this] { flush(); };
  kernel_.tasks_ended = [this](const std::vector<Handle>& handles) { tasks_ended(handles); };
  kernel_.task_order = [this](Handle handle) {
    const Running& running = waiting_.at(handle);
    if (running.job != nullptr) return running.job->task_number;
    const Errand& errand = *running.errand;
    return errand.job == nullptr ? errand.number : errand.job->task_number;
  };
}

// ------------------------------------------------------------------ start

void Executor::start(Job& job, Placement place, Prepared& prepared) {
  const double now_s = kernel_.clock_s();
  job.allocation = place.allocation;
  machines_.occupy(*job.allocation->ids, now_s);
  job.state = JobState::RUNNING;
  job.start_s = now_s;
  job.budget_s = job.walltime_s;
  if (observer_ != nullptr) observer_->job_started(job);
  const Work& work = job.profile->work;
  if (work.is_task()) {
    launch(job, prepared);
  } else if (work.kind == Work::Kind::DELAY) {
    sleep(job, work.seconds);
  } else {
    job.programmed = true;
    job.place = std::move(place);
    extension_.begin_program(job);
  }
}

/// Gives a parallel task to the engine at the end of this instant.
void Executor::launch(Job& job, const Prepared& prepared) {
  const std::int64_t first = kernel_.next_number(2);
  deadlines_.limit(job, first);
  job.task_number = first + 1;
  put({&job, nullptr}, prepared);
  if (observer_ != nullptr) observer_->task_started(job.task_number, prepared.task);
}

void Executor::put(Running running, const Prepared& prepared) {
  if (new_tasks_.size() <= new_.size()) new_tasks_.emplace_back();
  new_tasks_[new_.size()] = prepared.task;
  new_.push_back(std::move(running));
  if (prepared.nothing) kernel_.task_ends_at_once();
}

/// Hands the tasks that start in this instant to the engine.
void Executor::flush() {
  for (std::size_t at = 0; at < new_.size(); ++at) {
    Running& running = new_[at];
    const Handle handle = kernel_.engine().start(new_tasks_[at]);
    if (handle == Engine::NOT_PLAYED) throw Fault(Rule::NOT_PLAYED);
    std::int64_t number = 0;
    if (running.job != nullptr) {
      running.job->handle = handle;
      number = running.job->task_number;
    } else {
      running.errand->handle = handle;
      number = running.errand->number;
    }
    if (observer_ != nullptr && (running.job != nullptr || running.errand->observed)) {
      observer_->task_begun(number, handle);
    }
    waiting_.emplace(handle, std::move(running));
  }
  new_.clear();
}

void Executor::run(const ErrandPtr& errand, const Prepared& prepared) {
  errand->number = kernel_.next_number();
  put({nullptr, errand}, prepared);
  if (observer_ != nullptr && errand->observed) {
    observer_->task_started(errand->number, prepared.task);
  }
}

void Executor::run_part(Job& job, const Work& work) {
  if (work.kind == Work::Kind::DELAY) {
    sleep(job, work.seconds);
    return;
  }
  prepare(work, job.place, machines_, part_);
  check_flops(work, part_.task, job.place, machines_);
  launch(job, part_);
}

void Executor::begin_chains(Job& job) {
  const std::int64_t first = kernel_.next_number(2);
  deadlines_.limit(job, first);
  job.task_number = first + 1;
}

void Executor::end_chains(Job& job) {
  if (job.limit == nullptr) return;
  job.budget_s = std::max(job.limit->made_s + job.limit->budget_s - kernel_.clock_s(), 0.0);
  deadlines_.release(job);
}

// ------------------------------------------------------------------ waiting and resuming

void Executor::tasks_ended(const std::vector<Handle>& handles) {
  for (const Handle handle : handles) {
    const auto found = waiting_.find(handle);
    if (found == waiting_.end()) continue;  // removed by an earlier event of the same instant
    const Running running = std::move(found->second);
    waiting_.erase(found);
    if (running.job != nullptr) {
      task_ended(*running.job);
      done(*running.job, OK);
      continue;
    }
    Errand& errand = *running.errand;
    if (observer_ != nullptr && errand.observed) observer_->task_ended(errand.number, 1.0);
    errand.handle = -1;
    errand.done();
  }
}

void Executor::task_ended(Job& job) {
  if (observer_ != nullptr) observer_->task_ended(job.task_number, 1.0);
  job.handle = -1;
  end_chains(job);
}

/// Stops tasks at their walltime, unless they end at this very moment: SimGrid prefers the end.
///
/// Real Batsim runs agree: on the thesis's part-4 both one-host jobs with a run time equal to their
/// walltime succeed, and the three wider ones, which need the network's latency on top, are
/// stopped. The moment is known up to the rounding of the clock.
void Executor::walltime_reached(const std::vector<Job*>& jobs) {
  const double now_s = kernel_.clock_s();
  const double noise = 4.0 * (std::nextafter(now_s, NEVER) - now_s);
  for (Job* job : jobs) {
    const double share = drop_tasks(*job);
    const double missing_s = (1.0 - share) * job->budget_s;  // if the share took the whole budget
    const bool in_time =
        share > 0.0 && missing_s <= (WORK_PRECISION * job->budget_s + noise) * share;
    job->budget_s = 0.0;
    done(*job, in_time ? OK : TIMEOUT);
  }
}

/// Takes a job's tasks from the engine; returns the progress of its parallel task.
double Executor::drop_tasks(Job& job) {
  flush();
  if (job.programmed) extension_.cancel_chains(job);
  if (job.handle < 0) return 0.0;
  double progress = 0.0;
  if (waiting_.erase(job.handle) > 0) progress = cancel_task(job.handle);
  if (observer_ != nullptr) observer_->task_ended(job.task_number, progress);
  job.handle = -1;
  return progress;
}

double Executor::cancel_task(Handle handle) {
  const double progress = kernel_.engine().cancel(handle);
  return progress == Engine::NOT_ACTIVE ? 1.0 : progress;  // it ended at this very instant
}

void Executor::cancel(Errand& errand) {
  if (waiting_.erase(errand.handle) == 0) return;
  const double progress = cancel_task(errand.handle);
  if (observer_ != nullptr && errand.observed) observer_->task_ended(errand.number, progress);
}

void Executor::sleep(Job& job, double seconds) {
  const double now_s = kernel_.clock_s();
  const double budget_s = job.budget_s;
  job.wait_start_s = now_s;
  Job* const sleeper = &job;
  if (budget_s < 0.0 || seconds < budget_s) {
    job.timer = kernel_.after(seconds, [this, sleeper] { slept(*sleeper, OK); });
    if (budget_s > 0.0) job.budget_s = budget_s - seconds;
  } else {
    job.timer = kernel_.after(budget_s, [this, sleeper] { slept(*sleeper, TIMEOUT); });
  }
}

void Executor::slept(Job& job, std::int32_t code) {
  job.timer = {};
  job.poll_s = 0.0;
  if (observer_ != nullptr && job.allocation != nullptr) {
    observer_->slept(job.allocation->ids->front());
  }
  done(job, code);
}

void Executor::poll(Job& job, double seconds) {
  const double now_s = kernel_.clock_s();
  job.wait_start_s = now_s;
  job.poll_s = seconds;
  if (job.budget_s < 0.0) return;
  Job* const sleeper = &job;
  job.timer = kernel_.after(job.budget_s, [this, sleeper] { slept(*sleeper, TIMEOUT); });
}

void Executor::message_came(Job& job) {
  if (job.poll_s == 0.0) return;
  const double polls = std::floor((kernel_.clock_s() - job.wait_start_s) / job.poll_s) + 1.0;
  const double waited_s = polls * job.poll_s;
  if (0.0 <= job.budget_s && job.budget_s <= waited_s) return;
  if (job.budget_s >= 0.0) {
    kernel_.forget(job.timer);
    job.budget_s -= waited_s;
  }
  job.poll_s = 0.0;
  Job* const sleeper = &job;
  job.timer = kernel_.at(job.wait_start_s + waited_s, [this, sleeper] { slept(*sleeper, OK); });
}

/// Ends or resumes a job after its task or pause.
void Executor::done(Job& job, std::int32_t code) {
  if (job.programmed) {
    extension_.resume_program(job, code);
  } else {
    end(job, code);
  }
}

// ------------------------------------------------------------------ end

void Executor::end(Job& job, std::int32_t code) {
  job.return_code = code != OK ? code : job.profile->ret;
  job.state = end_state(job.return_code);
  close(job, job.return_code < 0);
  ended_(job);
}

/// Frees the machines and records the runtime.
void Executor::close(Job& job, bool stopped) {
  const double now_s = kernel_.clock_s();
  machines_.leave(*job.allocation->ids, now_s);
  const double runtime_s = now_s - job.start_s;
  job.runtime_s = runtime_s != 0.0 ? runtime_s : SHORTEST_RUNTIME_S;
  if (observer_ != nullptr) observer_->job_ended(job, stopped);
  if (job.programmed) extension_.end_program(job);
  job.programmed = false;
}

Progress Executor::stop(Job& job) {
  flush();
  const bool in_parallel_task = job.handle >= 0;
  Progress progress{job.id, job.profile->name, drop_tasks(job), nullptr};
  deadlines_.release(job);
  job.poll_s = 0.0;
  kernel_.forget(job.timer);
  job.timer = {};
  const Work& work = job.profile->work;
  if (work.kind == Work::Kind::DELAY) {
    progress.share = (kernel_.clock_s() - job.wait_start_s) / work.seconds;
  } else if (job.programmed) {
    progress.tree = extension_.program_progress(job, progress.share);
  }
  progress.share = rounded(progress.share, 6);
  job.state = JobState::COMPLETED_KILLED;
  job.return_code = in_parallel_task ? KILLED : TIMEOUT;
  close(job, in_parallel_task);
  return progress;
}

}  // namespace spillway::batsim
