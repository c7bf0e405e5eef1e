#include "bindings/python_sides.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/operations.hpp"
#include "bindings/payload.hpp"
#include "bindings/tasks.hpp"

namespace nb = nanobind;

namespace spillway::bindings {
namespace {

using batsim::Job;
using batsim::JobPtr;

/// Calls a method of a Python object, from a thread that may be without Python's lock.
template <typename... Arguments>
nb::object call(nb::handle object, const char* name, const Arguments&... arguments) {
  return object.attr(name)(arguments...);
}

/// The job for Python, which may keep it.
JobPtr kept(Job& job) { return job.shared_from_this(); }
JobPtr kept(const Job& job) { return std::const_pointer_cast<Job>(job.shared_from_this()); }

using Locked = nb::gil_scoped_acquire;

}  // namespace

// ------------------------------------------------------------------ engine

bool PythonEngine::ends_at_once() const {
  const Locked lock;
  return nb::cast<bool>(engine_.attr("ends_at_once"));
}

std::size_t PythonEngine::active() const {
  const Locked lock;
  return nb::cast<std::size_t>(engine_.attr("active"));
}

Handle PythonEngine::start(const Task& task) {
  const Locked lock;
  const auto [hosts, flops, each, sources, destinations, amounts] = parts_of(task);
  return nb::cast<Handle>(
      call(engine_, "start", hosts, flops, each, sources, destinations, amounts));
}

Handle PythonEngine::sleep(double seconds) {
  const Locked lock;
  return nb::cast<Handle>(call(engine_, "sleep", seconds));
}

double PythonEngine::cancel(Handle handle) {
  const Locked lock;
  return nb::cast<double>(call(engine_, "cancel", handle));
}

double PythonEngine::progress(Handle handle) const {
  const Locked lock;
  return nb::cast<double>(call(engine_, "progress", handle));
}

double PythonEngine::next_completion() {
  const Locked lock;
  return nb::cast<double>(call(engine_, "next_completion"));
}

void PythonEngine::advance(double until_s, std::vector<Handle>& ended) {
  const Locked lock;
  const auto handles = nb::cast<std::vector<Handle>>(call(engine_, "advance", until_s));
  clock_s_ = nb::cast<double>(engine_.attr("clock"));
  ended.insert(ended.end(), handles.begin(), handles.end());
}

void PythonEngine::change_speed(std::int32_t host, double speed) {
  const Locked lock;
  call(engine_, "change_speed", host, speed);
}

// ------------------------------------------------------------------ scheduler

bool PythonScheduler::exchange(const Message& message, Reply& reply) {
  const Locked lock;
  const nb::object answer = exchange_(table_.message(message));
  if (answer.is_none()) return false;
  table_.reply(answer, reply);
  return true;
}

// ------------------------------------------------------------------ extension

void PythonExtension::begin_program(Job& job) {
  const Locked lock;
  call(extension_, "begin_program", kept(job));
}

void PythonExtension::resume_program(Job& job, std::int32_t code) {
  const Locked lock;
  call(extension_, "resume_program", kept(job), code);
}

void PythonExtension::cancel_chains(Job& job) {
  const Locked lock;
  call(extension_, "cancel_chains", kept(job));
}

PayloadPtr PythonExtension::program_progress(Job& job, double share) {
  const Locked lock;
  return wrap(call(extension_, "program_progress", kept(job), share));
}

void PythonExtension::end_program(Job& job) {
  const Locked lock;
  call(extension_, "end_program", kept(job));
}

JobPtr PythonExtension::find(const std::string& id, std::string& reason) {
  const Locked lock;
  const nb::object found = call(extension_, "find", id);
  if (nb::isinstance<Job>(found)) return nb::cast<JobPtr>(found);
  reason = nb::cast<std::string>(found);
  return nullptr;
}

void PythonExtension::register_profile(const Request& request) {
  const Locked lock;
  call(extension_, "register_profile", unwrap(request.payload), request.index);
}

void PythonExtension::describe(const Request& request) {
  const Locked lock;
  Profile& profile = *request.profile;
  const nb::object read =
      call(extension_, "describe", request.job_id, profile.name,
           dict_of(static_cast<const Description&>(*profile.source)), request.index);
  const auto& found = nb::cast<const Profile&>(read);
  profile.work = found.work;
  profile.ret = found.ret;
  profile.size = found.size;
  profile.elastic = found.elastic;
  profile.children = found.children;
}

JobPtr PythonExtension::register_job(const Request& request) {
  const Locked lock;
  return nb::cast<JobPtr>(call(extension_, "register_job", unwrap(request.payload), request.index));
}

ProfilePtr PythonExtension::extra_profile(const Job& job, const Request& request) {
  const Locked lock;
  return nb::cast<ProfilePtr>(
      call(extension_, "extra_profile", kept(job), unwrap(request.extra->payload), request.index));
}

void PythonExtension::other(const Request& request) {
  const Locked lock;
  call(extension_, "other", unwrap(request.payload), request.index);
}

void PythonExtension::forget(const Job& job) {
  const Locked lock;
  call(extension_, "forget", kept(job));
}

void PythonExtension::drop_profile(const Job& job) {
  const Locked lock;
  call(extension_, "drop_profile", kept(job));
}

void PythonExtension::occurred(const std::vector<PayloadPtr>& events) {
  const Locked lock;
  nb::list found;
  for (const PayloadPtr& event : events) found.append(unwrap(event));
  call(extension_, "occurred", found);
}

bool PythonExtension::computes(std::int32_t machine) {
  const Locked lock;
  return nb::cast<bool>(call(extension_, "computes", machine));
}

void PythonExtension::recall(std::int64_t token) {
  const Locked lock;
  call(extension_, "recall", token);
}

void PythonExtension::told(Job& job) {
  const Locked lock;
  call(extension_, "told", kept(job));
}

void PythonExtension::first_submission() {
  const Locked lock;
  call(extension_, "first_submission");
}

void PythonExtension::progress(double now_s, std::int64_t jobs) {
  const Locked lock;
  call(extension_, "progress", now_s, jobs);
}

// ------------------------------------------------------------------ observer

void PythonObserver::job_started(Job& job) {
  const Locked lock;
  call(observer_, "job_started", kept(job));
}

void PythonObserver::job_ended(Job& job, bool stopped) {
  const Locked lock;
  call(observer_, "job_ended", kept(job), stopped);
}

void PythonObserver::task_started(std::int64_t number, const Task& task) {
  const Locked lock;
  call(observer_, "task_started", number, task.hosts, task.flops);
}

void PythonObserver::task_begun(std::int64_t number, Handle handle) {
  const Locked lock;
  call(observer_, "task_begun", number, handle);
}

void PythonObserver::task_ended(std::int64_t number, double progress) {
  const Locked lock;
  call(observer_, "task_ended", number, progress);
}

void PythonObserver::slept(std::int32_t machine) {
  const Locked lock;
  call(observer_, "slept", machine);
}

}  // namespace spillway::bindings
