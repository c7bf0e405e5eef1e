// Faults of a policy's decisions and of the simulator's messages, as codes with numbers; the words
// are Python's (schedulers/core/words.py).
#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "model/job.hpp"

namespace spillway {

// Why a decision is refused. The comments name the numbers a, b, c and the text.
enum class Refused : std::int32_t {
  NONE,
  NOT_WAITING,         // start of a job that does not wait
  HOLDS_NODES,         // a: nodes that it holds already
  NODE_COUNT,          // a: requested nodes; b: nodes of the allocation
  NODE_OUT,            // a: node
  NODE_HELD,           // a: node; text: id of its holder
  NODE_UNKNOWN,        // a: node; b: number of nodes
  NODE_TWICE,          // a: node
  NODES_DESCEND,       //
  NO_ONE_PARTITION,    //
  NODE_OUTSIDE,        // a: node
  BUFFER_SIZE,         // a: requested bytes; b: bytes of the allocation
  STORAGE_COUNT,       // a: needed storages; b: those of the allocation
  STRIPING,            //
  STRIPES_SHARE,       // a: needed stripes
  STORAGE_AWAY,        // a: node; b: storage
  STORAGE_UNKNOWN,     // a: storage; b: number of storages
  STORAGE_OUT,         // a: storage
  STORAGE_FULL,        // a: storage; b: bytes left; c: bytes taken
  OTHER_BUFFER,        //
  OTHER_RATE,          // a: its rate; b: rate of the allocation
  LINK_FULL,           // a: link; b: bytes per second left; c: taken
  LAYERS,              // text: as the layers' rule states it
  POOL_AMOUNT,         // a: pool; b: amount that it holds; c: that of the allocation
  POOL_FULL,           // a: pool; b: amount left; c: taken
  ROW_TASKS,           //
  ROW_COLUMNS,         //
  BUFFER_FIRST,        //
  STILL_FILLING,       //
  HOLD_NOT_WAITING,    //
  HOLD_ALREADY,        //
  HOLD_NOTHING,        //
  HOLD_WITH_NODES,     //
  HOLD_PAST,           // x: until when (s)
  REJECT_NOT_WAITING,  //
  EVICT_NOTHING,       //
  KILL_NOT_RUNNING,    //
  WAKE_TIME,           // x: time (s)
  MOVE_REFUSED,        //
  GIVEN_NOTHING,       // a running job gives back what it does not hold
  GIVEN_EXTRA,         // a: node
  GIVEN_UNKNOWN,       // a: node
  HOST_CLOSED,         // a: host; text: id
  NOT_SUBMITTED,       // text: id, of an execution
  NOT_REJECTABLE,      // text: id
  NOT_KILLABLE,        // text: id
  NO_DYNAMIC_JOBS,     // text: request and name
  METADATA_OF_NONE,    //
  METADATA_QUOTE,      // text: the metadata
  PAUSES,              // the policy pauses, but its player cannot wait
};

struct Refusing final : std::exception {
  Refusing(Refused why, std::string name, std::int64_t one = 0, std::int64_t two = 0,
           std::int64_t three = 0)
      : code(why), job_id(std::move(name)), a(one), b(two), c(three) {}
  const char* what() const noexcept override { return "a decision is refused"; }
  Refused code;
  std::string job_id;
  std::int64_t a, b, c;
  double x = 0.0;
  std::string text;
  JobPtr job;  // of a start or a hold
  AllocationPtr allocation;
};

// Why a message is illegal.
enum class Illegal : std::int32_t {
  AFTER_END,          // anything after SIMULATION_ENDS
  ORDER,              // a: place of the event: before SIMULATION_BEGINS, or after SIMULATION_ENDS
  SECOND_BEGIN,       //
  MESSAGE_TIME,       // x: time; y: that of the last message
  EVENT_TIME,         // a: place of the event; x: its time; y: that before it
  EVENT_AFTER,        // a: place of the event; x: its time; y: that of the message
  ID_LENGTH,          // text: the id
  ID_FORM,            // text
  ID_USED,            // text
  REGISTRATION_OVER,  // text
  NOT_REGISTERED,     // text: id with the form of a sub-job
  NOT_RUNNING,        // text: id of a JOB_COMPLETED
  END_UNKNOWN,        // text: id of the end of a job that does not run
  RESOURCE_UNKNOWN,   // a: its id; text: the member
};

struct IllegalMessage final : std::exception {
  explicit IllegalMessage(Illegal why, std::string words = "", std::int64_t one = 0)
      : code(why), text(std::move(words)), a(one) {}
  const char* what() const noexcept override { return "an illegal message"; }
  Illegal code;
  std::string text;
  std::int64_t a;
  double x = 0.0, y = 0.0;
};

}  // namespace spillway
