#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "model/messages.hpp"

namespace spillway::batsim {

/// The rules that Batsim enforces by aborting, and the limits of this simulator. The embedding has
/// the words of each.
enum class Rule : std::uint8_t {
  TEXT,                    ///< texts: the words, which came from the embedding
  NOW_RANGE,               ///< numbers: the reply's time
  LATER_THAN_NOW,          ///< numbers: the reply's time, the request's
  NO_DYNAMIC_JOBS,         ///< registration is not enabled
  REGISTRATION_CLOSED,     ///< the scheduler has announced that it registers no more
  NOT_SUBMITTED,           ///< execution of a job in another state; texts: the state
  NOT_REJECTABLE,          ///< texts: the state
  NO_KILL,                 ///< no job is named
  NOT_RUNNING,             ///< kill of a job that waits; texts: its id, the state
  NOTHING_TO_KILL,         ///< texts: the id of a job without machines
  KILL_UNKNOWN,            ///< texts: the id, the reason
  QUOTE_IN_METADATA,       ///< texts: the metadata
  CALL_RANGE,              ///< numbers: the present, the requested time
  NO_MACHINE,              ///< an empty allocation
  UNKNOWN_MACHINE,         ///< numbers: the machine, the number of machines
  WRONG_COUNT,             ///< numbers: requested, got, whether by a mapping; texts: the allocation
  MACHINE_BUSY,            ///< numbers: the machine, whether a storage host; texts: the jobs on it
  MACHINE_STATE,           ///< numbers: the machine, its state
  NO_COMPUTATION_STATE,    ///< numbers: the machine, in a power state that is not for computing
  MAPPING_GAP,             ///< numbers: executors in the mapping
  MAPPING_PLACE,           ///< numbers: the executor, the place, the size of the allocation
  EXECUTORS,               ///< numbers: executors of the profile, of the job
  STORAGE_LABEL,           ///< texts: the label, the labels that are given
  STORAGE_MAPPING_NEEDED,  ///< numbers: storage hosts; texts: the label
  STORAGE_UNMAPPED,        ///< texts: the label
  STORAGE_UNKNOWN,         ///< numbers: the machine, the number of machines; texts: the label
  NO_STORAGE_HOST,         ///< numbers: the machine; texts: the label
  STORAGE_COMPUTES,        ///< numbers: flop, the machine
  NO_EXTRA_IO,             ///< texts: the profile, its kind
  EXTRA_IO_KIND,           ///< texts: the profile, its kind
  EXTRA_IO_MAPPED,         ///< additional I/O of a job with a mapping of its own
  IDLE_CALLS,              ///< numbers: calls, jobs that wait
  REQUESTS_AT_END,  ///< numbers: jobs running, machines switching, kills, calls, jobs not ended
  LATEST_TIME,      ///< numbers: the simulated time
  NOT_PLAYED        ///< a task that is not in the engine's model
};

/// A broken rule: its numbers and texts, the request that breaks it, and the place of that in the
/// reply.
///
/// The only exception of the loop; a simulation that threw cannot continue.
class Fault : public std::exception {
 public:
  explicit Fault(Rule broken, std::vector<double> values = {}, std::vector<std::string> words = {})
      : rule(broken), numbers(std::move(values)), texts(std::move(words)) {}

  const char* what() const noexcept override { return "a rule of the simulator is broken"; }

  Rule rule;
  std::vector<double> numbers;
  std::vector<std::string> texts;
  /// Place in the reply; -1: none.
  std::int32_t index = -1;
  /// Whether `request` is the kind of the request that breaks it.
  bool requested = false;
  Request::Kind request = Request::Kind::OTHER;
  /// Whether the job was to start without a scheduler.
  bool unscheduled = false;
  /// Full id of the job concerned, or empty.
  std::string job;
};

}  // namespace spillway::batsim
