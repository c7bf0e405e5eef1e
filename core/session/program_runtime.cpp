#include "session/program_runtime.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace spillway {

namespace {

Request& ask(Step& step, Request::Kind kind, double now_s, const std::string& job_id) {
  Request& request = step.requests.emplace_back();
  request.kind = kind;
  request.time_s = now_s;
  request.job_id = job_id;
  return request;
}

}  // namespace

ProgramRuntime::ProgramRuntime(std::shared_ptr<JobModel> model, std::shared_ptr<Gate> gate,
                               std::optional<StageLimits> limits, bool restarts)
    : model_(std::move(model)), gate_(std::move(gate)), limits_(limits), restarts_(restarts) {}

void ProgramRuntime::begin(Hosts hosts, bool reuse) {
  hosts_ = std::move(hosts);
  reuse_ = reuse;
  const auto& numbers = hosts_.io_node;
  many_io_nodes_ =
      std::any_of(numbers.begin(), numbers.end(), [](std::int32_t number) { return number != 0; });
}

// ---------------------------------------------------------------- calls from the session

void ProgramRuntime::stage(const JobPtr& job, const AllocationPtr& allocation, double now_s,
                           Step& step) {
  if (!limits_) {
    step.staged.push_back({job->id, {}});
    return;
  }
  Follow follow(step);
  const ProcessPtr process = enter(job, allocation, now_s);
  process->program = model_->stage_in(job);
  process->phase = Process::Phase::ONLY_STAGE_IN;
  process->staging = true;
  process->record.staged = BufferTimes{now_s, NOT_YET, NOT_YET};
  if (limits_->stage_in_s < NEVER)
    set_timer(process, now_s + limits_->stage_in_s, now_s, follow, true);
  advance(process, nullptr, now_s, follow);
  serve(now_s, follow);
}

void ProgramRuntime::unstage(const JobPtr& job, double now_s, Step& step) {
  const ProcessPtr process = find(job->id);
  if (!process) return;
  Follow follow(step);
  remove(*process);
  unstaged_.insert_or_assign(job->id, Unstaged{process->sub_jobs, process->tenant});
  drop(*process, now_s, follow);
  serve(now_s, follow);
}

// Kill and detach the running parts of a process, and give up its waits.
void ProgramRuntime::drop(Process& process, double now_s, Follow& follow) {
  stop(process, now_s, follow);
  leave_behind(process.live);
  withdraw(process, now_s, follow);
  process.timer = -1;
  process.over = true;
  if (process.program) process.program->close();
  process.program.reset();
  if (!process.tenant) return;
  process.tenant->dropped = true;
  leave_if_through(process.job->id, *process.tenant, now_s);
}

// Close the account of a job that lost its buffer, once no transfer of its stage-in moves any more;
// a job that stages in again by then keeps it.
void ProgramRuntime::leave_if_through(const std::string& job_id, Tenant& tenant, double now_s) {
  if (!tenant.dropped || tenant.moving) return;
  tenant.dropped = false;
  if (!by_job_.count(job_id)) leave(tenant.number, now_s);
}

Account ProgramRuntime::leave(std::int64_t account, double now_s) {
  Account closed;
  if (gate_->leave(account, now_s, closed) != Gate::Fault::NONE) {
    throw std::invalid_argument("a job that leaves the I/O gate still waits or transfers");
  }
  return closed;
}

TenantPtr ProgramRuntime::tenant() {
  auto tenant = std::make_shared<Tenant>();
  tenant->number = account_count_;
  account_count_ += 2;
  return tenant;
}

ProcessPtr ProgramRuntime::find(const std::string& job_id) const {
  const auto found = by_job_.find(job_id);
  return found == by_job_.end() ? nullptr : found->second;
}

void ProgramRuntime::remove(const Process& process) {
  const std::int64_t number = process.number;
  by_job_.erase(process.job->id);
  processes_.erase(number);
}

ProcessPtr ProgramRuntime::enter(const JobPtr& job, const AllocationPtr& allocation, double now_s) {
  const auto before = unstaged_.find(job->id);
  const bool again = before != unstaged_.end();
  auto process = std::make_shared<Process>(
      job, allocation, again ? before->second.sub_jobs : SubJobs(job->id, reuse_), now_s);
  if (again) {  // its account at the gate continues
    process->tenant = before->second.tenant ? before->second.tenant : tenant();
    unstaged_.erase(before);
    gate_->enter(process->tenant->number, now_s);
  }
  process->number = process_count_++;
  processes_.emplace(process->number, process);
  by_job_.insert_or_assign(job->id, process);
  return process;
}

void ProgramRuntime::start(const JobPtr& job, const AllocationPtr& allocation, double now_s,
                           Step& step) {
  const Resumed resumed = restarts_ ? model_->resumed(job->left) : Resumed();
  ProcessPtr process = find(job->id);
  if (!process) {
    process = enter(job, allocation, now_s);
    // Nothing to stage in: its buffer was given with its nodes.
    if (apart(*job)) process->record.staged = BufferTimes{now_s, now_s, NOT_YET};
  } else {
    process->job = process->record.job = job;
    process->allocation = process->record.allocation = allocation;
    process->record.start_s = now_s;
    process->staging = process->over = false;
    process->outcome.reset();
    process->transfers.clear();  // it had no nodes until now
  }
  // If a checkpoint survived in its burst buffers, so did the data that it had staged in.
  const bool staged = apart(*job) || (resumed.state && resumed.buffered);
  process->record.resumed = resumed.state;
  process->phase = staged ? Process::Phase::WORK : Process::Phase::STAGE_IN;
  process->program =
      staged ? model_->program(job, allocation, now_s, resumed.state) : model_->stage_in(job);
  process->sub_jobs.deadline_s = now_s + job->walltime_s + job->grace_s;
  Follow follow(step);
  if (job->bb_bytes)
    ask(step, Request::Kind::SET_METADATA, now_s, job->id).name = std::to_string(job->bb_bytes);
  advance(process, nullptr, now_s, follow);
  serve(now_s, follow);
  if (!process->record.whole) ask(step, Request::Kind::REJECT_JOB, now_s, job->id);
}

void ProgramRuntime::without_nodes(const JobPtr& job, double now_s, Step& step) {
  Record record;
  record.job = job;
  record.allocation = std::make_shared<Allocation>();
  record.start_s = record.end_s = now_s;
  record.state = JobState::COMPLETED_SUCCESSFULLY;
  model_->ended(record);
  ask(step, Request::Kind::REJECT_JOB, now_s, job->id);
}

void ProgramRuntime::kill(const JobPtr& job, double now_s, Step& step) {
  const ProcessPtr process = by_job_.at(job->id);
  process->outcome = KILLED;
  Follow follow(step);
  stop(*process, now_s, follow);
  give_up(process, now_s, follow);
  serve(now_s, follow);
}

bool ProgramRuntime::completed(const std::string& job_id, JobState state, int return_code,
                               double now_s, Step& step) {
  const auto found = parts_.find(job_id);
  if (found == parts_.end()) return false;
  const SubJob sub_job = std::move(found->second);
  parts_.erase(found);
  Part& part = *sub_job.part;
  part.ended[sub_job.place] = true;
  --part.left;
  Follow follow(step);
  ended(part, state, return_code, now_s, follow);
  serve(now_s, follow);
  return true;
}

bool ProgramRuntime::submitted(const std::string& job_id, double, Step&) {
  return parts_.count(job_id) > 0;
}

bool ProgramRuntime::called(double now_s, Step& step) {
  Follow follow(step);
  bool rang = false;
  while (!timers_.empty() && timers_.top().at_s <= now_s + SHORTEST_WALLTIME_S) {
    const Timer timer = timers_.top();
    timers_.pop();
    timer_ended(timer, now_s, follow);
    rang = true;
  }
  const bool expired = expire(now_s, follow);
  serve(now_s, follow);
  return rang || expired;
}

bool ProgramRuntime::heard(const Event& event, double, Step&) {
  return event.kind == Event::Kind::JOB_KILLED;
}

void ProgramRuntime::outage(const NodeList& closed, double now_s, Step& step) {
  NodeList fresh;
  std::set_difference(closed.begin(), closed.end(), closed_.begin(), closed_.end(),
                      std::back_inserter(fresh));
  note_outages(fresh, now_s);
  closed_ = closed;
  if (file_system_out()) return;
  Follow follow(step);
  follow.granted.assign(stalled_.begin(), stalled_.end());
  stalled_.clear();
  serve(now_s, follow);
}

// An operation that runs on the nodes continues; one that waits for its turn is planned again, with
// fewer nodes.
bool ProgramRuntime::give_up(const JobPtr& job, const NodeList& nodes, double now_s, Step& step) {
  const ProcessPtr process = by_job_.at(job->id);
  const PayloadPtr& shown = process->record.state_shown;
  if (process->outcome || !shown || !model_->shrink(shown, nodes)) return false;
  Follow follow(step);
  if (!process->waiting.empty() && process->live.empty()) {
    withdraw(*process, now_s, follow);
    const Done done{process->ready_s, now_s, now_s, KILLED.state, KILLED.return_code};
    advance(process, &done, now_s, follow);
    serve(now_s, follow);
  }
  return true;
}

void ProgramRuntime::forget() {
  timers_ = {};
  turns_.clear();
  parts_.clear();
  by_job_.clear();
  processes_.clear();
  reports_.clear();
}

// ---------------------------------------------------------------- calls from controllers, checks

std::vector<PayloadPtr> ProgramRuntime::published() const {
  std::vector<PayloadPtr> states;
  for (const auto& entry : processes_) {
    if (entry.second->record.state_shown && !entry.second->over)
      states.push_back(entry.second->record.state_shown);
  }
  return states;
}

PayloadPtr ProgramRuntime::shown(const std::string& job_id) const {
  return by_job_.at(job_id)->record.state_shown;
}

std::vector<PayloadPtr> ProgramRuntime::take_reports() { return std::exchange(reports_, {}); }

std::string ProgramRuntime::fault() const {
  std::size_t owned = 0;
  std::size_t waiting = 0;
  for (const auto& entry : processes_) {
    const Process& process = *entry.second;
    for (const auto* parts : {&process.live, &process.beside}) {
      for (const Part* part : *parts) {
        if (part->abandoned) return "an abandoned part belongs to a process";
        owned += part->left;
      }
    }
    for (const auto* keys : {&process.waiting, &process.waiting_beside}) {
      for (const std::int64_t key : *keys) {
        if (!turns_.count(key)) return "turns and processes differ";
      }
      waiting += keys->size();
    }
    const bool busy = !process.live.empty() || !process.waiting.empty() ||
                      !process.beside.empty() || !process.waiting_beside.empty();
    if (!busy && !process.staging && process.timer < 0) {
      return "nothing of '" + process.job->id + "' runs or waits, and it has not ended";
    }
  }
  std::size_t kept = 0;
  for (const auto& entry : parts_) kept += !entry.second.part->abandoned;
  if (owned != kept) return "sub-jobs and processes differ";
  return waiting == turns_.size() ? "" : "turns and processes differ";
}

}  // namespace spillway
