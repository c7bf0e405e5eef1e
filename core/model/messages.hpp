#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/job_facts.hpp"
#include "model/payload.hpp"

namespace spillway {

/// Progress of a job that was killed: the done share of its task. A job of several parts has a tree
/// instead, which the embedding made.
struct Progress {
  std::string job_id;
  std::string profile_name;
  double share = 0.0;
  PayloadPtr tree;
};

/// Jobs that a kill named, in its order, and the progress of those that it stopped.
struct Killing {
  std::vector<std::string> job_ids;
  std::vector<Progress> progress;
};

/// What has happened, for the scheduler (`spillway.protocol.messages.Event`). Only the members of
/// its kind have a meaning.
struct Event {
  enum class Kind : std::uint8_t {
    SIMULATION_BEGINS,  ///< `payload`: the machine and the workloads, as the embedding states them
    SIMULATION_ENDS,
    JOB_SUBMITTED,   ///< `job`; `payload`: its object as it is sent; `profile`: its profile's, if
                     ///< forwarded
    JOB_COMPLETED,   ///< `job_id`, `state`, `return_code`, `alloc`
    JOB_KILLED,      ///< `killing`
    REQUESTED_CALL,  ///< `job_id`: the name of the call; `last`: of that name
    NO_MORE_JOBS,    ///< all static jobs have been submitted
    NO_MORE_EVENTS,  ///< all external events have occurred
    OTHER            ///< `payload`: an event that only the embedding reads
  };
  Kind kind = Kind::OTHER;
  /// When it reached the server, rounded as in messages.
  double time_s = 0.0;
  std::string job_id;
  JobState state = JobState::NOT_SUBMITTED;
  std::int32_t return_code = 0;
  bool last = true;
  /// Machines, ascending.
  Ids alloc;
  std::shared_ptr<const JobFacts> job;
  std::shared_ptr<const Killing> killing;
  PayloadPtr payload;
  PayloadPtr profile;
};

/// The events since the last message, and the time, rounded.
struct Message {
  double now_s = 0.0;
  std::vector<Event> events;
};

/// I/O merged into the parallel task of a job: its own machines and profile.
struct AdditionalIo {
  std::vector<std::int32_t> alloc;
  std::string profile_name;
  /// `nullptr`: the embedding finds it, by the name or by `payload`.
  ProfilePtr profile;
  PayloadPtr payload;
};

/// What the scheduler demands (`spillway.protocol.messages.Request`). Only the members of its kind
/// have a meaning.
struct Request {
  enum class Kind : std::uint8_t {
    EXECUTE_JOB,       ///< `job_id`, `alloc`, `mapping`, `storage`, `extra`
    REJECT_JOB,        ///< `job_id`
    CALL_ME_LATER,     ///< `at_s`, `name`
    KILL_JOB,          ///< `job_ids`
    REGISTER_PROFILE,  ///< `payload`: what the embedding registers; none: the jobs bring the
                       ///< profile
    REGISTER_JOB,      ///< `job`; or `job_id` and `payload`, from which the embedding makes a job
    SET_METADATA,      ///< `job_id`, `name`: the text
    OTHER              ///< `payload`: a request that only the embedding reads
  };
  using Mapping = std::vector<std::pair<std::int32_t, std::int32_t>>;
  using Storage = std::vector<std::pair<std::string, std::int32_t>>;

  Kind kind = Kind::OTHER;
  /// Its time, not after the reply's.
  double time_s = 0.0;
  /// Its place in the reply, for faults; several may come of one request.
  std::int32_t index = 0;
  std::string job_id;
  /// Machines in any order.
  Ids alloc;
  /// Place in the allocation by executor, ascending; `nullptr`: one executor per machine.
  std::shared_ptr<const Mapping> mapping;
  /// Machine by label of storage.
  std::shared_ptr<const Storage> storage;
  std::shared_ptr<const AdditionalIo> extra;
  std::shared_ptr<const JobFacts> job;
  /// The new profile of REGISTER_PROFILE.
  ProfilePtr profile;
  double at_s = 0.0;
  std::string name;
  std::vector<std::string> job_ids;
  PayloadPtr payload;
};

/// The scheduler's answer to a message: the time, not before the message's, and its requests in
/// order.
struct Reply {
  double now_s = 0.0;
  std::vector<Request> requests;
};

/// The other side of the conversation.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// Answers a message; false: there is no reply yet, `Loop::answer` will bring it.
  virtual bool exchange(const Message& message, Reply& reply) = 0;
  /// Goes on with an answer that paused; false: it pauses again.
  virtual bool go_on(Reply&) { return false; }
};

}  // namespace spillway
