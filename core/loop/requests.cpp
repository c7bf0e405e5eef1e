#include "loop/requests.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "loop/fault.hpp"
#include "model/job_states.hpp"
#include "model/limits.hpp"
#include "model/rounding.hpp"

namespace spillway::batsim {
namespace {

/// Shortest wait for a requested call, s; a call requested sooner comes after this time.
constexpr double SHORTEST_WAIT_S = 1e-5;

/// No number from here on can be printed.
constexpr double UNPRINTABLE = 1e24;

/// A number after Batsim has printed and read it; false: it is none that a profile may have.
bool reprint(double& number) {
  if (!(0.0 <= number && number < UNPRINTABLE)) return false;
  number = rounded(number, PRINTED_DECIMALS);
  return true;
}

/// All numbers of a work, so; false: one of them may not be, or the work is a program.
bool reprint(Work& work) {
  if (work.kind == Work::Kind::PROGRAM) return false;
  for (double* number : {&work.seconds, &work.cpu, &work.com, &work.read, &work.write}) {
    if (!reprint(*number)) return false;
  }
  for (std::vector<double>* numbers : {&work.cpus, &work.coms}) {
    for (double& number : *numbers) {
      if (!reprint(number)) return false;
    }
  }
  return true;
}

}  // namespace

void Requests::handle(const Request& request) {
  try {
    carry_out(request);
  } catch (Fault& fault) {
    fault.requested = true;
    fault.request = request.kind;
    fault.index = request.index;
    if (fault.job.empty()) fault.job = request.job_id;
    throw;
  }
}

void Requests::carry_out(const Request& request) {
  switch (request.kind) {
    case Request::Kind::EXECUTE_JOB:
      execute(request);
      break;
    case Request::Kind::REJECT_JOB:
      reject(request);
      break;
    case Request::Kind::CALL_ME_LATER:
      call_later(request);
      break;
    case Request::Kind::KILL_JOB:
      kill(request);
      break;
    case Request::Kind::REGISTER_PROFILE:
      register_profile(request);
      break;
    case Request::Kind::REGISTER_JOB:
      register_job(request);
      break;
    case Request::Kind::SET_METADATA:
      set_metadata(request);
      break;
    case Request::Kind::OTHER:
      extension_.other(request);
      break;
  }
}

// ------------------------------------------------------------------ execution

void Requests::execute(const Request& request) {
  const JobPtr job = registry_.find(request.job_id);
  if (job->state != JobState::SUBMITTED) {
    throw Fault(Rule::NOT_SUBMITTED, {}, {name_of(job->state)});
  }
  Placement place = placed_for(*job, request);
  const Work& work = job->profile->work;
  if (work.is_task()) {
    prepare(work, place, machines_, prepared_);
    if (place.allocation->has_storage()) check_flops(work, prepared_.task, place, machines_);
  }
  if (request.extra != nullptr) merge_extra(*job, request, place);
  check_free(*place.allocation);
  ++server_.running;
  executor_.start(*job, std::move(place), prepared_);
}

/// The placement of a job on the machines that a request names.
Placement Requests::placed_for(const Job& job, const Request& request) {
  AllocationPtr allocation = allocations_.of(*request.alloc);
  const auto hosts = static_cast<std::int32_t>(allocation->ids->size());
  if (!options_.sized) {
    if (request.mapping != nullptr || job.res == 0 || job.res == hosts) {
      return placed(std::move(allocation), request.mapping.get(), request.storage);
    }
    Request::Mapping mapping;
    for (std::int32_t executor = 0; executor < job.res; ++executor) {
      mapping.emplace_back(executor, executor % hosts);
    }
    return placed(std::move(allocation), &mapping, request.storage);
  }
  const bool mapped = request.mapping != nullptr;
  const auto count = mapped ? static_cast<std::int32_t>(request.mapping->size()) : hosts;
  if (count != job.res && !job.profile->elastic && !job.profile->elastic_parts) {
    check_free(*allocation);
    throw Fault(Rule::WRONG_COUNT, {double(job.res), double(count), double(mapped)},
                {allocation->text});
  }
  return placed(std::move(allocation), request.mapping.get(), request.storage);
}

void Requests::merge_extra(const Job& job, const Request& request, const Placement& place) {
  const Profile& own = *job.profile;
  if (!own.work.is_task()) throw Fault(Rule::NO_EXTRA_IO, {}, {own.name, own.kind});
  const AdditionalIo& extra = *request.extra;
  const ProfilePtr profile =
      extra.profile != nullptr ? extra.profile : extension_.extra_profile(job, request);
  const Work& work = profile->work;
  if (!work.is_task() || work.kind == Work::Kind::STAGING ||
      work.kind == Work::Kind::STORAGE_ACCESS || work.kind == Work::Kind::IO_STREAM) {
    throw Fault(Rule::EXTRA_IO_KIND, {}, {profile->name, profile->kind});
  }
  const Placement io_place = placed(allocations_.of(extra.alloc), nullptr, nullptr);
  merge(prepared_, own.work, place, work, io_place, machines_);
}

void Requests::check_free(const Allocation& allocation) const {
  const std::vector<std::int32_t>& ids = *allocation.ids;
  for (std::size_t at = 0; at < ids.size(); ++at) {
    const bool storage = at >= allocation.compute;
    const bool shared = storage ? options_.storage_sharing : options_.compute_sharing;
    if (!shared && machines_.jobs(ids[at]) > 0) {
      throw Fault(Rule::MACHINE_BUSY, {double(ids[at]), double(storage)},
                  registry_.running_on(ids[at]));
    }
  }
  for (const std::int32_t machine : ids) {
    const MachineState state = machines_.state(machine);
    if (state != MachineState::IDLE && state != MachineState::COMPUTING) {
      throw Fault(Rule::MACHINE_STATE, {double(machine), double(state)});
    }
  }
  if (!options_.energy) return;
  for (const std::int32_t machine : ids) {
    if (!extension_.computes(machine)) throw Fault(Rule::NO_COMPUTATION_STATE, {double(machine)});
  }
}

void Requests::start_alone(Job& job) {
  try {
    std::vector<std::int32_t> ids;
    for (std::int32_t machine = 0; machine < job.res; ++machine) ids.push_back(machine);
    Placement place = placed(allocations_.of(ids), nullptr, nullptr);
    const Work& work = job.profile->work;
    if (work.is_task()) {
      prepare(work, place, machines_, prepared_);
      check_flops(work, prepared_.task, place, machines_);
    }
    executor_.start(job, std::move(place), prepared_);
  } catch (Fault& fault) {
    fault.unscheduled = true;
    fault.job = job.id;
    throw;
  }
}

// ------------------------------------------------------------------ other requests about jobs

void Requests::reject(const Request& request) {
  const JobPtr job = registry_.find(request.job_id);
  if (job->state != JobState::SUBMITTED) {
    throw Fault(Rule::NOT_REJECTABLE, {}, {name_of(job->state)});
  }
  server_.job_rejected(*job);
}

void Requests::kill(const Request& request) {
  if (request.job_ids.empty() && !options_.kills_again) throw Fault(Rule::NO_KILL);
  std::vector<JobPtr> jobs;
  for (const std::string& id : request.job_ids) {
    std::string reason;
    JobPtr job = registry_.find(id, reason);
    if (job == nullptr) throw Fault(Rule::KILL_UNKNOWN, {}, {id, reason});
    if (job->kill_requested) continue;
    if (job->state != JobState::RUNNING && !job->complete()) {
      throw Fault(Rule::NOT_RUNNING, {}, {id, name_of(job->state)});
    }
    if (job->allocation == nullptr) throw Fault(Rule::NOTHING_TO_KILL, {}, {id});
    job->kill_requested = true;
    jobs.push_back(std::move(job));
  }
  if (jobs.empty() && !options_.kills_again) return;
  ++server_.killers;
  auto killing = std::make_shared<Killing>();
  for (const JobPtr& job : jobs) {
    if (job->state == JobState::RUNNING) killing->progress.push_back(executor_.stop(*job));
  }
  kernel_.post_here(
      [this, jobs = std::move(jobs), killing] { server_.killing_done(jobs, killing); });
}

void Requests::set_metadata(const Request& request) {
  if (request.name.find('"') != std::string::npos) {
    throw Fault(Rule::QUOTE_IN_METADATA, {}, {request.name});
  }
  registry_.find(request.job_id)->metadata = request.name;
}

// ------------------------------------------------------------------ registration

void Requests::check_registration(const Request& request, bool closed) const {
  if (request.kind != Request::Kind::REGISTER_JOB &&
      request.kind != Request::Kind::REGISTER_PROFILE) {
    return;
  }
  if (options_.dynamic_jobs && !closed) return;
  Fault fault(options_.dynamic_jobs ? Rule::REGISTRATION_CLOSED : Rule::NO_DYNAMIC_JOBS);
  fault.index = request.index;
  throw fault;
}

void Requests::register_profile(const Request& request) {
  if (request.profile == nullptr) {
    extension_.register_profile(request);
  } else if (options_.reprints ? !reprint(request.profile->work)
                               : request.profile->work.kind == Work::Kind::PROGRAM) {
    extension_.describe(request);
  }
}

void Requests::register_job(const Request& request) {
  const bool native = request.job != nullptr;
  const JobPtr job =
      native ? std::make_shared<Job>(*request.job) : extension_.register_job(request);
  if (native && options_.reprints) {
    job->subtime_s = rounded(job->subtime_s, PRINTED_DECIMALS);
    job->walltime_s = rounded(job->walltime_s, PRINTED_DECIMALS);
  }
  registry_.enter(job);
  ++server_.submitted;
  if (options_.acknowledge_dynamic_jobs && !native) {
    server_.announce(*job);
  } else {
    job->state = JobState::SUBMITTED;
  }
}

// ------------------------------------------------------------------ calls

void Requests::call_later(const Request& request) {
  const double now_s = kernel_.clock_s();
  const double at_s = request.at_s;
  if (options_.late_calls && at_s <= now_s) {
    ++server_.waiters;
    kernel_.spawn([this, name = request.name] { call(name, true); });
    return;
  }
  if (!(now_s < at_s && at_s <= LATEST_S)) throw Fault(Rule::CALL_RANGE, {now_s, at_s});
  ++server_.waiters;
  const double moment_s = at_s - now_s >= SHORTEST_WAIT_S ? at_s : now_s + SHORTEST_WAIT_S;
  kernel_.at(moment_s, [this, name = request.name] { call(name, true); });
}

void Requests::call(const std::string& name, bool last) {
  if (server_.ends_sent()) return;
  kernel_.post_here([this, name, last] { server_.call(name, last); });
}

}  // namespace spillway::batsim
