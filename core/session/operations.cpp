// Operations of a process, one after another; waits and time-outs.
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/limits.hpp"
#include "session/program_runtime.hpp"

namespace spillway {

namespace {

constexpr double SOONEST_CALL_S =
    10 * SHORTEST_WALLTIME_S;  // Batsim takes calls strictly in the future
constexpr Kinds ALL_BUT_BUFFERS = ALL_KINDS & ~BURST_BUFFERS;

}  // namespace

// Take the next operation of a job: of its programs one after another, and between them its nodes
// are given back where its burst buffer has a life of its own.
bool ProgramRuntime::next(Process& process, const Done* done, Operation& operation) {
  using Phase = Process::Phase;
  while (process.phase != Phase::OVER) {
    if (process.program && process.program->next(done, operation)) return true;
    process.program.reset();
    done = nullptr;
    switch (process.phase) {
      case Phase::STAGE_IN:
        process.phase = Phase::WORK;
        process.program = model_->program(process.job, process.allocation, process.record.start_s,
                                          process.record.resumed);
        break;
      case Phase::WORK:
        process.phase = Phase::OFF_NODES;
        if (!apart(*process.job)) break;
        operation.kind = Operation::Kind::GIVE_BACK;
        operation.covering = ALL_BUT_BUFFERS;
        return true;
      case Phase::OFF_NODES:
        process.phase = Phase::STAGE_OUT;
        process.program = model_->stage_out(process.job);
        break;
      case Phase::ONLY_STAGE_IN:
      case Phase::STAGE_OUT:
      case Phase::OVER:
        process.phase = Phase::OVER;
        break;
    }
  }
  return false;
}

// Run a program until it waits for something, or ends.
void ProgramRuntime::advance(const ProcessPtr& process, const Done* done, double now_s,
                             Follow& follow) {
  const Done at_once{now_s, now_s, now_s, SUCCESS.state, SUCCESS.return_code};
  while (true) {
    Operation operation;
    if (!next(*process, done, operation)) {
      if (process->staging) {
        process->record.staged->filled_s = now_s;
        follow.step.staged.push_back({process->job->id, {}});
        return;
      }
      if (!process->outcome) process->outcome = SUCCESS;
      close(process, now_s, follow);
      return;
    }
    switch (operation.kind) {
      case Operation::Kind::SUBMITTED:
        return submit(process, operation, now_s, follow);
      case Operation::Kind::COMPUTE:
      case Operation::Kind::TRANSFER:
        return time(process, operation, now_s, follow);
      case Operation::Kind::WAIT:
        return wait(process, operation, now_s, follow);
      case Operation::Kind::GIVE_BACK:
        give_back(process, operation, now_s, follow);
        break;
      case Operation::Kind::PUBLISH:
        process->record.state_shown = operation.payload;
        break;
      case Operation::Kind::REPORT:
        reports_.push_back(operation.payload);
        break;
      case Operation::Kind::NONE:
        break;
    }
    done = &at_once;
  }
}

void ProgramRuntime::give_back(const ProcessPtr& process, const Operation& operation, double now_s,
                               Follow& follow) {
  if (!operation.nodes || !operation.nodes->empty()) {
    follow.step.released.push_back({process->job->id, operation.nodes, operation.covering});
  }
  if (!limits_ || !process->record.staged || operation.nodes) return;
  process->record.staged->off_nodes_s = now_s;
  process->sub_jobs.deadline_s = NEVER;  // the walltime is that of its nodes
  if (limits_->stage_out_s < NEVER)
    set_timer(process, now_s + limits_->stage_out_s, now_s, follow, true);
}

// Let time pass; the walltime of a job that has its nodes may end it earlier.
void ProgramRuntime::wait(const ProcessPtr& process, const Operation& operation, double now_s,
                          Follow& follow) {
  process->operation = operation;
  process->ready_s = process->began_s = now_s;
  const double end_s = std::min(now_s + operation.seconds, process->sub_jobs.deadline_s);
  process->timer = set_timer(process, end_s, now_s, follow, false);
}

// Let the simulator run the job itself and watch its walltime; a default walltime is watched here.
void ProgramRuntime::submit(const ProcessPtr& process, const Operation& operation, double now_s,
                            Follow& follow) {
  const JobPtr& job = process->job;
  process->operation = operation;
  process->ready_s = now_s;
  process->record.whole = true;
  Request& request = follow.step.requests.emplace_back();
  request.kind = Request::Kind::EXECUTE_JOB;
  request.time_s = now_s;
  request.job_id = job->id;
  request.alloc = host_ids(process->allocation->nodes, hosts_);
  if (operation.stream) {
    request.extra = model_->stream(job, request.alloc, operation.stream);
  } else if (!operation.label.empty() && hosts_.pfs >= 0) {
    request.storage =
        std::make_shared<Request::Storage>(Request::Storage{{operation.label, hosts_.pfs}});
  }
  process->began_s = now_s;
  if (job->default_walltime)
    set_timer(process, now_s + job->walltime_s + job->grace_s, now_s, follow, true);
  auto part = std::make_shared<Part>();
  part->process = process;
  part->ended.assign(1, false);
  part->left = 1;
  part->began_s = now_s;
  process->live.push_back(part.get());
  parts_.emplace(job->id, SubJob{std::move(part), 0});
}

// Begin an operation that takes time, or queue for it; end the job if it cannot begin or its time
// is over.
void ProgramRuntime::time(const ProcessPtr& process, const Operation& operation, double now_s,
                          Follow& follow) {
  process->operation = operation;
  process->ready_s = now_s;
  process->began_s = NOT_YET;
  const std::int64_t number = process->operations++;
  const auto& timed = operation.timed;
  Reason reason = out(*process, timed, process->nodes_of(*timed));
  if (reason || process->late(now_s)) {
    process->outcome = reason ? KILLED : TIMED_OUT;
    process->reason = std::move(reason);
    close(process, now_s, follow);
    return;
  }
  if (needs_turn(*timed)) {
    queue(process, timed, now_s, follow, false);
    return;
  }
  run({process, timed, nullptr, false, number}, process->nodes_of(*timed), now_s, follow, -1);
  if (timed->is_transfer) return;
  const auto& beside = static_cast<const Compute&>(*timed).beside;
  if (!beside) return;
  if (needs_turn(*beside)) {
    queue(process, beside, now_s, follow, true);
  } else {
    run({process, beside, nullptr, true, number}, process->nodes_of(*beside), now_s, follow, -1);
  }
}

// Start the sub-jobs of an operation, or of its part on some nodes.
void ProgramRuntime::run(const Queued& what, const NodeList& nodes, double now_s, Follow& follow,
                         std::int64_t turn) {
  const ProcessPtr& process = what.process;
  const auto& timed = what.operation;
  const auto low = lowered(*process, timed, nodes);
  if (timed->is_transfer) {
    const auto& transfer = static_cast<const Transfer&>(*timed);
    process->record.moved_bytes[transfer.stage] +=
        volume(transfer, nodes.size(), *process->allocation);
  }
  const double walltime_s = what.beside ? NEVER : remaining(*process, now_s);
  auto part = std::make_shared<Part>();
  part->process = process;
  part->operation = timed;
  part->number = what.number;
  part->first = process->sub_jobs.run(*low, walltime_s, now_s, follow.step.requests);
  part->left = low->tasks.size();
  part->ended.assign(part->left, false);
  part->began_s = now_s;
  part->beside = what.beside;
  part->turn = turn;
  for (std::size_t place = 0; place < part->left; ++place) {
    parts_.emplace(process->sub_jobs.id(part->first + static_cast<std::int64_t>(place)),
                   SubJob{part, place});
  }
  if (what.beside) {
    process->beside.push_back(part.get());
    return;
  }
  process->live.push_back(part.get());
  if (!std::isnan(process->began_s)) return;
  process->began_s = now_s;
  if (timed->began) (*timed->began)(now_s);
}

// An operation, or its part on some nodes, in the simulator's terms.
std::shared_ptr<const Lowered> ProgramRuntime::lowered(Process& process,
                                                       const std::shared_ptr<const Timed>& timed,
                                                       const NodeList& nodes) const {
  const bool all = !timed->nodes && nodes.size() == process.allocation->nodes.size();
  if (!timed->is_transfer) {
    const auto& compute = static_cast<const Compute&>(*timed);
    auto low = std::make_shared<Lowered>();
    low->profile = compute.profile;
    if (all && !process.hosts) process.hosts = host_ids(nodes, hosts_);
    low->tasks.push_back({all ? process.hosts : host_ids(nodes, hosts_), nullptr});
    return low;
  }
  const auto& transfer = static_cast<const Transfer&>(*timed);
  if (!all) return std::make_shared<Lowered>(lower(transfer, nodes, *process.allocation, hosts_));
  const Amount& bytes = transfer.bytes_per_node;
  auto& kept = process.transfers[{transfer.source, transfer.destination, bytes.value,
                                  bytes.is_exact() ? 0 : bytes.exact}];
  if (!kept) kept = std::make_shared<Lowered>(lower(transfer, nodes, *process.allocation, hosts_));
  return kept;
}

// Time that a job has left (s); at its start exactly its walltime, without rounding.
double ProgramRuntime::remaining(const Process& process, double now_s) {
  if (now_s == process.record.start_s && !process.staging)
    return process.job->walltime_s + process.job->grace_s;
  return process.sub_jobs.deadline_s - now_s;
}

// ---------------------------------------------------------------- waits and time-outs

// Set a timer of a process: for the end of its wait, or for a limit of its time.
std::int64_t ProgramRuntime::set_timer(const ProcessPtr& process, double at_s, double now_s,
                                       Follow& follow, bool limit) {
  ++timer_count_;
  at_s = std::max(at_s, now_s + SOONEST_CALL_S);
  timers_.push({at_s, timer_count_, process, limit});
  if (at_s <= LATEST_S) {
    Request& request = follow.step.requests.emplace_back();
    request.kind = Request::Kind::CALL_ME_LATER;
    request.time_s = now_s;
    request.at_s = at_s;
  }
  return timer_count_;
}

void ProgramRuntime::timer_ended(const Timer& timer, double now_s, Follow& follow) {
  const ProcessPtr& process = timer.process;
  if (timer.limit && process->job->default_walltime &&
      process->operation.kind == Operation::Kind::SUBMITTED) {
    if (find(process->job->id) == process && process->sub_jobs.overdue(now_s)) {
      process->outcome = TIMED_OUT;
      stop(*process, now_s, follow);
    }
  } else if (timer.limit) {
    out_of_time(process, now_s, follow);
  } else if (process->timer == timer.number) {
    process->timer = -1;
    process->record.seconds[process->operation.stage] += now_s - process->began_s;
    process->record.idle_end_s = now_s;  // it may end here, after its last sub-job
    if (process->sub_jobs.overdue(now_s)) {
      process->outcome = TIMED_OUT;
      give_up(process, now_s, follow);
    } else {
      const Done done{process->ready_s, process->began_s, now_s, SUCCESS.state,
                      SUCCESS.return_code};
      advance(process, &done, now_s, follow);
    }
  }
}

// Handle the end of a limit of staging: a job that is still staging in loses its burst buffer; one
// that stages out ends without the rest of its data.
void ProgramRuntime::out_of_time(const ProcessPtr& process, double now_s, Follow& follow) {
  if (find(process->job->id) != process || process->over || !process->record.staged) return;
  const BufferTimes& times = *process->record.staged;
  if (process->staging && std::isnan(times.filled_s)) {
    Reason reason;
    reason.code = Reason::Code::STAGE_IN_TIMED_OUT;
    reason.number = limits_->stage_in_s;
    follow.step.staged.push_back({process->job->id, std::move(reason)});
  } else if (now_s - times.off_nodes_s >= limits_->stage_out_s - SHORTEST_WALLTIME_S) {
    process->outcome = TIMED_OUT;
    kill_parts(*process, now_s, follow);
    give_up(process, now_s, follow);
  }
}

}  // namespace spillway
