// One simulation's conversation, without a socket: message in, reply out. Deterministic and total.
//
// Every event changes the records; then the policy gets a view and yields decisions; the guard
// checks them; the runtime turns them into requests. Time only comes from messages. What is
// decided, and what is rare (outages, preemption, dependencies, persistent buffers, resizes), is
// the host's: it is called at fixed places, and works on the same records.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "book/book.hpp"
#include "model/messages.hpp"
#include "session/faults.hpp"
#include "session/queue.hpp"
#include "session/runtime.hpp"
#include "session/times.hpp"
#include "session/wire.hpp"

namespace spillway {

class Session;

// What a conversation asks of the outside: the policy's passes, the reading of jobs, and rules that
// are rare.
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  // SIMULATION_BEGINS: make the machine; calls Session::begin.
  virtual void begins(const Event& event) = 0;
  // A message has come, with events that the session does not read itself, or while rare features
  // are in use.
  virtual void before(const Message& message) = 0;
  // An event that the session does not read itself.
  virtual void other(const Event& event) = 0;
  // An event that comes before the begin or after the end.
  virtual void out_of_order(const Event& event, std::size_t place) = 0;
  // Whether a submission acknowledges an attempt that was submitted anew.
  virtual bool acknowledges(const std::string& job_id) = 0;

  // Read a submitted job; with a reason it can never run, as its bandwidth cannot be computed.
  virtual JobPtr read(const Event& event, std::int64_t number, std::string& reason) = 0;
  // Admit a job: add its partitions and amounts of pools. It waits, is held by others, or (with a
  // reason) never runs.
  enum class Admission : std::uint8_t { WAITS, HELD, REJECTED };
  virtual Admission admit(JobPtr& job, std::string& reason) = 0;

  // Run a pass of the policy, or go on with one that paused; false: it pauses.
  virtual bool pass() = 0;
  virtual bool resume() = 0;
  // Fewest nodes that a job may start on.
  virtual std::int64_t fewest_nodes(const JobPtr& job) = 0;
  // What the rules of layers and of persistent buffers have against a start; throws.
  virtual void check_start(const JobPtr& job, const AllocationPtr& allocation) = 0;

  // Observers.
  virtual void submitted(const JobPtr& job) = 0;
  virtual void rejected(const JobPtr& job, const std::string& reason) = 0;
  virtual void started(const JobPtr& job, const AllocationPtr& allocation) = 0;
  virtual void ended(const RunningPtr& running, JobState state) = 0;
  virtual void resized(const RunningPtr& running) = 0;
  virtual void held(const JobPtr& job, const HoldingPtr& holding) = 0;
  virtual void evicted(const JobPtr& job, const HoldingPtr& holding) = 0;

  // A job has given its nodes back, and keeps other resources.
  virtual void after_nodes(const std::string& job_id) = 0;
  // While rare features are in use: a job was rejected, started, or has ended.
  virtual void after_rejection(const JobPtr& job) = 0;
  virtual void after_start(const JobPtr& job) = 0;
  virtual void after_end(const RunningPtr& running, const Ended& ended) = 0;
  // Words of a stage-in that failed.
  virtual std::string words(const Reason& reason) = 0;
  // Before a pass: queue or reject jobs that dependencies no longer hold, destroy persistent
  // buffers.
  virtual void before_pass() = 0;
  // After a pass: kill jobs whose grace time is over, let controllers resize; true: decide again at
  // once.
  virtual bool after_pass() = 0;
  // At the end of a turn of decisions: whether there is more to decide.
  virtual bool more() = 0;
  // After the last event: kill jobs that have lost resources; and after the decisions: request
  // calls.
  virtual void after_events() = 0;
  virtual void after_decisions() = 0;
  // Dependencies no longer hold some jobs (event cadence).
  virtual bool release() = 0;
  // All submitted jobs have ended, and no further static ones come: registration may be finished.
  virtual void no_more() = 0;
};

class Session {
 public:
  // each_event: the policy decides after every event, as in the published experiment, not once a
  // message.
  Session(Host& host, bool each_event) : host_(host), each_event_(each_event) {}

  // ------------------------------------------------------------------ the conversation

  // Begin, with the machine that the host has made. resources: ids of the machine's hosts.
  void begin(std::shared_ptr<Book> book, std::shared_ptr<Runtime> runtime, Wire wire,
             Nodes resources);
  // Answer a message; false: the policy pauses, and resume() goes on.
  bool handle(const Message& message, Reply& reply);
  bool resume(Reply& reply);
  bool begun() const { return book_ != nullptr; }
  bool finished() const { return finished_; }
  // Place of the event that was being handled, for faults; below 0: none.
  std::int64_t event() const { return handling_; }

  // ------------------------------------------------------------------ records

  double now_s() const { return now_s_; }
  Book& book() { return *book_; }
  Queue& queue() { return queue_; }
  Wire& wire() { return wire_; }
  Runtime& runtime() { return *runtime_; }
  bool knows(const std::string& job_id) const { return ids_.find(job_id) != nullptr; }
  Times times(const std::string& job_id) const;
  void note_start(const std::string& job_id, double now_s);
  void note_end(const std::string& job_id, double now_s, bool failed);
  // Rank of the next job that may wait: a submitted job, or one that its dependencies no longer
  // hold.
  std::int64_t next_number() { return numbers_++; }
  // Refuse an invalid id or one that was used before; whether it is a job of a user's workload.
  bool check_submission(const std::string& job_id);
  void check_resources(const Nodes& ids, const char* member) const;
  const Nodes& resources() const { return resources_; }
  // Ends of stage-ins of waiting jobs (s), by job.
  std::unordered_map<std::string, double> filled_s;
  bool dirty = false;  // whether anything that the policy sees has changed since its last pass
  bool static_done = false;  // whether the simulator has submitted all its static jobs
  bool rare = false;  // whether rare features are in use, so that the host is called for them
  bool moldable = false, layered = false;

  // ------------------------------------------------------------------ decisions and their
  // consequences

  void start(const JobPtr& job, const AllocationPtr& allocation);
  void hold(const JobPtr& job, const AllocationPtr& allocation, double until_s);
  void evict(const JobPtr& job);
  void reject_waiting(const JobPtr& job, const std::string& reason);
  void kill(const JobPtr& job);
  void wake(double time_s);
  // Reject a job that neither waits nor runs.
  void reject(const JobPtr& job, const std::string& reason);
  // Let a job wait.
  void enqueue(const JobPtr& job);
  // Check a request and add it to the answer.
  void send(Request request);
  // Carry out a step of the runtime.
  void enact(Step& step);
  // Pass an event of running jobs to the runtime.
  void hear(const Event& event);

  // First inconsistency of queue, book and runtime, in words; empty: none.
  std::string fault();

 private:
  enum class Stage : std::uint8_t {
    EVENTS,
    EVENT_PASS,
    AFTER_EVENTS,
    TURN,
    TURN_PASS,
    AFTER_PASS,
    DONE
  };

  bool go_on(Reply& reply);
  bool go_on_events();
  void drop_late_kills();
  bool decide();
  bool pass();
  void check_times(const Message& message);
  void dispatch(const Event& event);
  void submitted(const Event& event);
  void completed(const Event& event);
  void called();
  void staged(const Staged& staged);
  void released(const Released& released);
  void ended(const Ended& ended);

  Host& host_;
  bool each_event_;
  std::shared_ptr<Book> book_;
  std::shared_ptr<Runtime> runtime_;
  Wire wire_;
  Queue queue_;
  Nodes resources_;
  TimesOfJobs ids_;
  std::vector<Request> requests_;
  double now_s_ = 0.0, last_s_ = 0.0, event_s_ = 0.0;
  std::int64_t numbers_ = 0, handling_ = -1;
  bool finished_ = false, passing_ = false;
  Stage stage_ = Stage::DONE;
  Message message_;
  std::size_t next_ = 0;
};

}  // namespace spillway
