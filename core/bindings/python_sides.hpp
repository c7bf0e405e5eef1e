#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <type_traits>
#include <vector>

#include "bindings/messages.hpp"
#include "bindings/payload.hpp"
#include "engines/engine.hpp"
#include "loop/extension.hpp"

namespace spillway::bindings {

/// An object of Python, called from a thread that may be without Python's lock. It belongs to the
/// loop's binding, whose garbage collection must know each reference: here it is only borrowed.
class Called {
 public:
  explicit Called(nanobind::handle object) : object_(object) {}

 protected:
  using Locked = nanobind::gil_scoped_acquire;

  template <typename Result = void, typename... Arguments>
  Result call(const char* name, const Arguments&... arguments) const {
    const Locked lock;
    const nanobind::object found = object_.attr(name)(arguments...);
    if constexpr (!std::is_void_v<Result>) return nanobind::cast<Result>(found);
  }
  template <typename Value>
  Value value(const char* name) const {
    const Locked lock;
    return nanobind::cast<Value>(object_.attr(name));
  }

  /// A job for Python, which may keep it.
  static batsim::JobPtr kept(batsim::Job& job) { return job.shared_from_this(); }
  static batsim::JobPtr kept(const batsim::Job& job) {
    return std::const_pointer_cast<batsim::Job>(job.shared_from_this());
  }

  nanobind::handle object_;
};

/// An engine of Python (`spillway.simulator.engines.simgrid.SimgridEngine`).
class PythonEngine final : public Engine, Called {
 public:
  using Called::Called;

  bool ends_at_once() const override { return value<bool>("ends_at_once"); }
  std::size_t active() const override { return value<std::size_t>("active"); }
  Handle start(const Task& task) override;
  Handle sleep(double seconds) override { return call<Handle>("sleep", seconds); }
  double cancel(Handle handle) override { return call<double>("cancel", handle); }
  double progress(Handle handle) const override { return call<double>("progress", handle); }
  double next_completion() override { return call<double>("next_completion"); }
  void advance(double until_s, std::vector<Handle>& ended) override {
    const auto handles = call<std::vector<Handle>>("advance", until_s);
    clock_s_ = value<double>("clock");
    ended.insert(ended.end(), handles.begin(), handles.end());
  }
  void change_speed(std::int32_t host, double speed) override { call("change_speed", host, speed); }
};

/// A scheduler of Python: a link's `exchange`.
class PythonScheduler final : public Scheduler {
 public:
  PythonScheduler(nanobind::handle exchange, MessageTable& table)
      : exchange_(exchange), table_(table) {}

  bool exchange(const Message& message, Reply& reply) override;

 private:
  nanobind::handle exchange_;
  MessageTable& table_;
};

/// What is rare, done by `spillway.simulator.wire.extension.Extension`.
class PythonExtension final : public batsim::Extension, Called {
 public:
  using Called::Called;

  void begin_program(batsim::Job& job) override { call("begin_program", kept(job)); }
  void resume_program(batsim::Job& job, std::int32_t code) override {
    call("resume_program", kept(job), code);
  }
  void cancel_chains(batsim::Job& job) override { call("cancel_chains", kept(job)); }
  PayloadPtr program_progress(batsim::Job& job, double share) override {
    const Locked lock;
    return wrap(call<nanobind::object>("program_progress", kept(job), share));
  }
  void end_program(batsim::Job& job) override { call("end_program", kept(job)); }
  batsim::JobPtr find(const std::string& id, std::string& reason) override;
  void register_profile(const Request& request) override { pass("register_profile", request); }
  void describe(const Request& request) override;
  batsim::JobPtr register_job(const Request& request) override {
    return pass<batsim::JobPtr>("register_job", request);
  }
  ProfilePtr extra_profile(const batsim::Job& job, const Request& request) override {
    const Locked lock;
    return call<ProfilePtr>("extra_profile", kept(job), unwrap(request.extra->payload),
                            request.index);
  }
  void other(const Request& request) override { pass("other", request); }
  void forget(const batsim::Job& job) override { call("forget", kept(job)); }
  void drop_profile(const batsim::Job& job) override { call("drop_profile", kept(job)); }
  void occurred(const std::vector<PayloadPtr>& events) override {
    const Locked lock;
    nanobind::list found;
    for (const PayloadPtr& event : events) found.append(unwrap(event));
    call("occurred", found);
  }
  bool computes(std::int32_t machine) override { return call<bool>("computes", machine); }
  void recall(std::int64_t token) override { call("recall", token); }
  void told(batsim::Job& job) override { call("told", kept(job)); }
  void first_submission() override { call("first_submission"); }
  void progress(double now_s, std::int64_t jobs) override { call("progress", now_s, jobs); }

 private:
  template <typename Result = void>
  Result pass(const char* name, const Request& request) const {
    const Locked lock;
    return call<Result>(name, unwrap(request.payload), request.index);
  }
};

/// Energy and traces, written by `spillway.simulator.wire.observer.Observer`.
class PythonObserver final : public batsim::Observer, Called {
 public:
  using Called::Called;

  void job_started(batsim::Job& job) override { call("job_started", kept(job)); }
  void job_ended(batsim::Job& job, bool stopped) override { call("job_ended", kept(job), stopped); }
  void task_started(std::int64_t number, const Task& task) override {
    call("task_started", number, task.hosts, task.flops);
  }
  void task_begun(std::int64_t number, Handle handle) override {
    call("task_begun", number, handle);
  }
  void task_ended(std::int64_t number, double progress) override {
    call("task_ended", number, progress);
  }
  void slept(std::int32_t machine) override { call("slept", machine); }
};

}  // namespace spillway::bindings
