#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loop/job.hpp"
#include "loop/job_table.hpp"
#include "loop/kernel.hpp"
#include "loop/options.hpp"
#include "loop/registry.hpp"

namespace spillway::batsim {

/// The server: what it receives, the messages to the scheduler and their times, and the end of the
/// simulation.
class Server {
 public:
  Server(Kernel& kernel, JobRegistry& registry, JobTable& table, Extension& extension,
         const LoopOptions& options)
      : kernel_(kernel),
        registry_(registry),
        table_(table),
        extension_(extension),
        options_(options) {}

  /// Counters; the simulation is over when all submitted jobs have ended and nothing is under way.
  std::int64_t submitted = 0;
  std::int64_t completed = 0;
  std::int64_t running = 0;
  /// Machines that change their power state, calls to come, kills under way.
  std::int64_t switching = 0;
  std::int64_t waiters = 0;
  std::int64_t killers = 0;
  std::int64_t job_submitters = 0;
  std::int64_t event_submitters = 0;
  /// Whether the scheduler has announced that no more jobs will be registered.
  bool registration_finished = false;
  /// Whether the scheduler has ended the simulation, whatever runs or waits.
  bool forced = false;

  /// The clock as it is printed, s.
  double now_s() const;
  /// Whether the last message of the simulation has been sent.
  bool ends_sent() const { return ends_sent_; }

  // What it receives.
  void job_submitter_left();
  void event_submitter_left();
  /// Adds static jobs to the queue.
  void jobs_submitted(const std::vector<JobPtr>& jobs);
  /// Submits a job: notifies the scheduler.
  void announce(Job& job);
  void job_completed(Job& job);
  void job_rejected(Job& job);
  /// Reports the jobs that a kill has really ended, then the kill.
  void killing_done(const std::vector<JobPtr>& jobs, std::shared_ptr<Killing> killing);
  /// Sends a requested call that is due.
  void call(const std::string& name, bool last);
  /// Sends an event that the embedding has made.
  void tell(PayloadPtr event);
  /// Notes that the scheduler's reply has been carried out, and its time has come.
  void reply_done();

  /// The events to send now; false: there is no message. A message is sent when the scheduler is
  /// idle, an event is pending, and no message waits for the server. Jobs reported as ended are
  /// dropped with it.
  bool next_message(std::vector<Event>& events);

 private:
  Event& pend(Event::Kind kind);
  bool finished() const;
  void count_idle_calls(const std::vector<Event>& events);
  void forget();
  void check_end() const;

  Kernel& kernel_;
  JobRegistry& registry_;
  JobTable& table_;
  Extension& extension_;
  const LoopOptions& options_;
  std::vector<Event> pending_;
  /// Whether the scheduler has answered the last message and its time has come.
  bool ready_ = false;
  bool ends_sent_ = false;
  std::vector<JobPtr> reported_;
  /// Jobs whose profiles are dropped when the present message has been answered.
  std::vector<JobPtr> stale_;
  std::int64_t idle_calls_ = 0;
  std::int64_t completed_before_ = 0;
};

}  // namespace spillway::batsim
