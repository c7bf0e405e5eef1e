#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "bindings/messages.hpp"
#include "engines/engine.hpp"
#include "loop/extension.hpp"

// The objects of Python belong to the loop's binding, whose garbage collection must know each
// reference: here they are only borrowed.

namespace spillway::bindings {

/// An engine of Python (`spillway.simulator.engines.base.Engine`).
class PythonEngine final : public Engine {
 public:
  explicit PythonEngine(nanobind::handle engine) : engine_(engine) {}

  bool ends_at_once() const override;
  std::size_t active() const override;
  Handle start(const Task& task) override;
  Handle sleep(double seconds) override;
  double cancel(Handle handle) override;
  double progress(Handle handle) const override;
  double next_completion() override;
  void advance(double until_s, std::vector<Handle>& ended) override;
  void change_speed(std::int32_t host, double speed) override;

 private:
  nanobind::handle engine_;
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
class PythonExtension final : public batsim::Extension {
 public:
  explicit PythonExtension(nanobind::handle extension) : extension_(extension) {}

  void begin_program(batsim::Job& job) override;
  void resume_program(batsim::Job& job, std::int32_t code) override;
  void cancel_chains(batsim::Job& job) override;
  PayloadPtr program_progress(batsim::Job& job, double share) override;
  void end_program(batsim::Job& job) override;
  batsim::JobPtr find(const std::string& id, std::string& reason) override;
  void register_profile(const Request& request) override;
  void describe(const Request& request) override;
  batsim::JobPtr register_job(const Request& request) override;
  ProfilePtr extra_profile(const batsim::Job& job, const Request& request) override;
  void other(const Request& request) override;
  void forget(const batsim::Job& job) override;
  void drop_profile(const batsim::Job& job) override;
  void occurred(const std::vector<PayloadPtr>& events) override;
  bool computes(std::int32_t machine) override;
  void recall(std::int64_t token) override;
  void told(batsim::Job& job) override;
  void first_submission() override;
  void progress(double now_s, std::int64_t jobs) override;

 private:
  nanobind::handle extension_;
};

/// Energy and traces, written by `spillway.simulator.wire.observer.Observer`.
class PythonObserver final : public batsim::Observer {
 public:
  explicit PythonObserver(nanobind::handle observer) : observer_(observer) {}

  void job_started(batsim::Job& job) override;
  void job_ended(batsim::Job& job, bool stopped) override;
  void task_started(std::int64_t number, const Task& task) override;
  void task_begun(std::int64_t number, Handle handle) override;
  void task_ended(std::int64_t number, double progress) override;
  void slept(std::int32_t machine) override;

 private:
  nanobind::handle observer_;
};

}  // namespace spillway::bindings
