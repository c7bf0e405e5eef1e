// Operations, which the program of a started job yields one after another, and the program itself.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "model/amount.hpp"
#include "session/description.hpp"
#include "session/step.hpp"

namespace spillway {

// Source or destination of a transfer.
enum class Place : std::uint8_t { COMPUTE_NODES, BURST_BUFFER, FILE_SYSTEM };

// Something of the embedding that is called with a time.
struct Hook : Payload {
  virtual void operator()(double now_s) = 0;
};

// An operation that takes time on nodes.
struct Timed {
  bool is_transfer = false;
  NodeIndices nodes;            // null: all nodes that the job was granted
  std::string stage;            // to which time and bytes are added in the job's record
  std::shared_ptr<Hook> began;  // called with the time at which it begins

  explicit Timed(bool transfer) : is_transfer(transfer) {}
};

// Move bytes. Between burst buffers and another place each node's bytes move separately; nodes
// write to or read from the file system together.
struct Transfer : Timed {
  Place source = Place::COMPUTE_NODES;
  Place destination = Place::FILE_SYSTEM;
  Amount bytes_per_node;  // of a striped buffer: bytes of each stripe
  bool abandoned =
      false;  // whether a job that fails ends without it, if it runs beside a computation

  Transfer() : Timed(true) {}

  // Whether it uses the parallel file system, and so passes the I/O gate.
  bool shared() const { return source == Place::FILE_SYSTEM || destination == Place::FILE_SYSTEM; }
  bool buffered() const {
    return source == Place::BURST_BUFFER || destination == Place::BURST_BUFFER;
  }
};

// Run a profile.
struct Compute : Timed {
  DescriptionPtr profile;
  std::shared_ptr<const Transfer>
      beside;               // begins with it, or with its turn; the job ends only with it
  bool takes_turn = false;  // whether it waits for its turn at the I/O gate
  double turn_bytes = 0.0;  // bytes that it represents there
  bool may_fail = false;    // whether a failure is handed to the program instead of ending the job

  Compute() : Timed(false) {}
};

// One operation of a program. Only the members of its kind have a meaning.
struct Operation {
  enum class Kind : std::uint8_t {
    NONE,
    SUBMITTED,  // run the job as it was submitted: `stream`, `label`
    COMPUTE,    // `timed`
    TRANSFER,   // `timed`
    GIVE_BACK,  // `nodes`, `covering`
    PUBLISH,    // `payload`: a state for controllers; null: nothing is shown
    REPORT,     // `payload`: an event for controllers
    WAIT        // `seconds`, `stage`
  };

  Kind kind = Kind::NONE;
  std::shared_ptr<const Timed> timed;
  NodeIndices nodes;
  Kinds covering = ALL_KINDS;
  PayloadPtr payload;
  double seconds = 0.0;
  std::string stage;
  PayloadPtr
      stream;  // bytes per node that go to the file system beside a submitted job; null: none
  std::string label;  // storage label of a submitted job that is itself a stream to the file system
};

// Result of an operation: times at which it was reached, began (in its turn) and ended (s), and its
// final state.
struct Done {
  double ready_s = 0.0;
  double began_s = 0.0;
  double ended_s = 0.0;
  JobState state = JobState::COMPLETED_SUCCESSFULLY;
  int return_code = 0;
};

// The operations of one job: a generator of a job model.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  // Bring the result of the last operation (null at first) and take the next one; false: it has
  // ended.
  virtual bool next(const Done* done, Operation& operation) = 0;
  // End it early.
  virtual void close() = 0;
};

using ProgramPtr = std::unique_ptr<Program>;

}  // namespace spillway
