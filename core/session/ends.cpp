// Ends of sub-jobs, and the end of a job.
#include <algorithm>
#include <cmath>
#include <utility>

#include "session/program_runtime.hpp"

namespace spillway {

// Handle the end of a sub-job, which the part does not have any more.
void ProgramRuntime::ended(Part& part, JobState state, int return_code, double now_s,
                           Follow& follow) {
  const ProcessPtr process = part.process;
  if (!part.left) {
    if (part.turn >= 0) {
      --process->tenant->moving;
      release(part.turn, now_s, follow);
    }
    if (!part.abandoned) {
      auto& parts = part.beside ? process->beside : process->live;
      parts.erase(std::find(parts.begin(), parts.end(), &part));
    }
  }
  if (part.abandoned) {
    if (part.turn >= 0) leave_if_through(process->job->id, *process->tenant, now_s);
  } else if (part.beside) {
    process->record.seconds[part.operation->stage] += now_s - part.began_s;
    process->record.drained += !process->spoilt && is_through(*process, part.number);
    end_if_through(process, now_s, follow);
  } else {
    ended_part(process, state, return_code, now_s, follow);
  }
}

// Whether no part of a transfer beside a computation runs or waits.
bool ProgramRuntime::is_through(const Process& process, std::int64_t number) const {
  for (const Part* part : process.beside) {
    if (part->number == number) return false;
  }
  for (const std::int64_t key : process.waiting_beside) {
    if (turns_.at(key).number == number) return false;
  }
  return true;
}

// Handle the end or the failure of a part of the present operation, or of the job itself.
void ProgramRuntime::ended_part(const ProcessPtr& process, JobState state, int return_code,
                                double now_s, Follow& follow) {
  const Operation& operation = process->operation;
  const bool failed = state != JobState::COMPLETED_SUCCESSFULLY;
  if (operation.kind == Operation::Kind::SUBMITTED && (failed || !limits_)) {
    process->outcome = Outcome{state, return_code};
  } else if (failed) {
    const bool may_fail = operation.kind == Operation::Kind::COMPUTE &&
                          static_cast<const Compute&>(*operation.timed).may_fail;
    if (!(may_fail && state == JobState::COMPLETED_FAILED) && !process->outcome) {
      process->outcome = Outcome{state, return_code};
    }
  }
  if (!process->live.empty()) return;
  if (process->outcome || process->waiting.empty()) account_for(*process, now_s);
  if (process->outcome) {
    give_up(process, now_s, follow, false);
  } else if (process->waiting.empty()) {
    const Done done{process->ready_s, process->began_s, now_s, state, return_code};
    advance(process, &done, now_s, follow);
  }
}

// Add the time of an operation that has ended to the record.
void ProgramRuntime::account_for(Process& process, double now_s) const {
  Record& record = process.record;
  if (process.operation.timed) {
    const std::string& stage = process.operation.timed->stage;
    const double seconds = now_s - process.began_s;
    record.seconds[stage] += seconds;
    if (restarts_ && !process.outcome) {
      ++record.through[stage];
      if (stage == "compute") record.computed_s.push_back(seconds);
    }
  }
  record.operations += !process.outcome;
}

// ---------------------------------------------------------------- the end of a job

// Let a job run no further operation: it gives up its turns, and ends when no part of it runs. If
// no part runs already
// (`idle`), it ends now, however long ago its last sub-job ended.
void ProgramRuntime::give_up(const ProcessPtr& process, double now_s, Follow& follow, bool idle) {
  process->timer = -1;
  if (idle && process->live.empty() && !process->over) {
    process->record.idle_end_s = now_s;
    if (process->operation.kind != Operation::Kind::NONE && !std::isnan(process->began_s)) {
      account_for(*process, now_s);  // parts of it had ended
    }
  }
  if (!process->waiting.empty()) withdraw(*process, now_s, follow);
  if (process->live.empty() && process->waiting.empty() && !process->over)
    close(process, now_s, follow);
}

// Close the program of a job, and end the job if nothing else of it runs.
void ProgramRuntime::close(const ProcessPtr& process, double now_s, Follow& follow) {
  process->over = true;
  if (process->program) process->program->close();
  process->program.reset();
  end_if_through(process, now_s, follow);
}

// End a job after the end of its program, once transfers beside it have ended too (or may be left
// behind).
void ProgramRuntime::end_if_through(const ProcessPtr& process, double now_s, Follow& follow) {
  if (!process->over || !process->live.empty() || !process->waiting_beside.empty()) return;
  const Outcome outcome = *process->outcome;
  if (process->staging) {
    remove(*process);
    if (process->tenant) leave(process->tenant->number, now_s);
    Reason reason = process->reason;
    if (!reason) {
      reason.code = Reason::Code::STAGE_IN_ENDED;
      reason.number = static_cast<double>(outcome.state);
    }
    follow.step.staged.push_back({process->job->id, std::move(reason)});
    return;
  }
  if (!process->beside.empty()) {
    const auto may_be_left = [](const Part* part) {
      return part->operation->is_transfer &&
             static_cast<const Transfer&>(*part->operation).abandoned;
    };
    if (outcome == SUCCESS ||
        !std::all_of(process->beside.begin(), process->beside.end(), may_be_left))
      return;
    leave_behind(process->beside);
  } else if (process->tenant) {
    leave(process->tenant->number + 1, now_s);
  }
  remove(*process);
  Record& record = process->record;
  if (process->tenant) record.io_wait_s = leave(process->tenant->number, now_s).waited_s;
  record.end_s = now_s;
  record.sub_jobs = process->sub_jobs.count();
  record.state = outcome.state;
  record.return_code = outcome.return_code;
  model_->ended(record);
  Ended& end = follow.step.ended.emplace_back();
  end.job_id = process->job->id;
  end.state = outcome.state;
  end.return_code = outcome.return_code;
  end.reason = process->reason;
  if (!restarts_ || !(outcome == KILLED)) return;
  Left left = model_->left(record);
  end.left = std::move(left.state);
  end.kept_s = left.kept_s;
}

// Kill the running parts of a process except transfers beside, once: their ends may be on the way
// already.
void ProgramRuntime::stop(Process& process, double now_s, Follow& follow) const {
  if (process.live.empty() || process.stopped) return;
  process.stopped = true;
  kill_parts(process, now_s, follow);
}

// Kill the sub-jobs of a process that have not ended, in their order.
void ProgramRuntime::kill_parts(const Process& process, double now_s, Follow& follow) const {
  if (process.live.empty()) return;
  Request& request = follow.step.requests.emplace_back();
  request.kind = Request::Kind::KILL_JOB;
  request.time_s = now_s;
  for (const Part* part : process.live) {
    if (!part->operation) {
      request.job_ids.push_back(process.job->id);
      continue;
    }
    for (std::size_t place = 0; place < part->ended.size(); ++place) {
      if (part->ended[place]) continue;
      request.job_ids.push_back(
          process.sub_jobs.id(part->first + static_cast<std::int64_t>(place)));
    }
  }
}

// Let a job continue, or end, without these parts.
void ProgramRuntime::leave_behind(std::vector<Part*>& parts) {
  for (Part* part : parts) part->abandoned = true;
  parts.clear();
}

}  // namespace spillway
