#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engines/task.hpp"
#include "loop/job.hpp"
#include "model/messages.hpp"

namespace spillway::batsim {

/// What is rare, and left to the embedding: programs of several parts, registration by objects as
/// they come over the wire, requests and events that only it reads. It works through the loop's
/// methods; each fact has one home.
class Extension {
 public:
  virtual ~Extension() = default;

  /// Begins a job whose profile is a program; its placement is set.
  virtual void begin_program(Job& job) = 0;
  /// Resumes the program of a job with the return code of the part that it waited for.
  virtual void resume_program(Job& job, std::int32_t code) = 0;
  /// Takes tasks that run side by side from the engine, if a program has begun some.
  virtual void cancel_chains(Job& job) = 0;
  /// The progress of a program that was just killed, as a tree; `share`: that of its running task.
  virtual PayloadPtr program_progress(Job& job, double share) = 0;
  /// Ends a program with its job.
  virtual void end_program(Job& job) = 0;

  /// A job that is not among those registered: submitted later, or named in another spelling; else
  /// `nullptr`, and the reason.
  virtual JobPtr find(const std::string& id, std::string& reason) = 0;
  /// Registers the profile that a request has.
  virtual void register_profile(const Request& request) = 0;
  /// Reads the description of a profile that a scheduler of this process registers: its work.
  virtual void describe(const Request& request) = 0;
  /// The job that a request registers.
  virtual JobPtr register_job(const Request& request) = 0;
  /// The profile of an additional I/O that the embedding has to find.
  virtual ProfilePtr extra_profile(const Job& job, const Request& request) = 0;
  /// Carries out a request of kind `OTHER`.
  virtual void other(const Request& request) = 0;
  /// Takes note that a registered job is forgotten.
  virtual void forget(const Job& job) = 0;
  /// Drops the profile of a job, and those that it runs, for new jobs.
  virtual void drop_profile(const Job& job) = 0;
  /// External events that occur now.
  virtual void occurred(const std::vector<PayloadPtr>& events) = 0;
  /// Whether a machine is in a power state for computing, in a simulation with energy.
  virtual bool computes(std::int32_t machine) = 0;
  /// A timer, a message or a task of the embedding's own has come to its end; it gave this number.
  virtual void recall(std::int64_t token) = 0;
  /// The server has received the message of a job to the scheduler.
  virtual void told(Job& job) = 0;
  /// Takes note that the first static job is submitted.
  virtual void first_submission() = 0;
  /// Takes note of the progress of the simulation, after every so many jobs.
  virtual void progress(double now_s, std::int64_t jobs) = 0;
};

/// Watches executions, for energy and traces; only simulations that need it have one.
class Observer {
 public:
  virtual ~Observer() = default;

  virtual void job_started(Job& job) = 0;
  /// `stopped`: at its walltime, or in the middle of a parallel task by a kill.
  virtual void job_ended(Job& job, bool stopped) = 0;
  /// A task starts; `number` stands for it. `task_begun` tells its handle once the engine has it.
  virtual void task_started(std::int64_t number, const Task& task) = 0;
  virtual void task_begun(std::int64_t number, Handle handle) = 0;
  /// A task has ended or was removed, at this progress.
  virtual void task_ended(std::int64_t number, double progress) = 0;
  /// A pause on a machine has ended.
  virtual void slept(std::int32_t machine) = 0;
};

}  // namespace spillway::batsim
