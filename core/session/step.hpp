// Consequences of one event, for the simulator and for jobs: what a runtime tells its session.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/messages.hpp"
#include "model/payload.hpp"
#include "model/resource.hpp"

namespace spillway {

using NodeIndices = std::shared_ptr<const std::vector<std::int32_t>>;  // ascending; null: all

// Why a job could not go on. The words are in Python (schedulers/model/reasons.py), except
// those that a runtime written in Python has stated already.
struct Reason {
  enum class Code : std::uint8_t {
    NONE,
    HOST_OUT,            // its next operation needs the host `number` (Batsim's id), which is out
    STAGE_IN_ENDED,      // its stage-in ended in the state `number`
    STAGE_IN_TIMED_OUT,  // its stage-in had not ended after `number` seconds
    STATED,              // `text`
  };

  Code code = Code::NONE;
  double number = 0.0;
  std::string text;

  explicit operator bool() const { return code != Code::NONE; }
};

// The end of a job (not of a sub-job), after which it holds nothing.
struct Ended {
  std::string job_id;
  JobState state = JobState::COMPLETED_SUCCESSFULLY;
  int return_code = 0;
  Reason reason;        // why the runtime ended it without a request, if it did
  PayloadPtr left;      // state passed to its next attempt
  double kept_s = 0.0;  // computing time that this attempt adds to it; below 0 where earlier
                        // checkpoints were lost
};

// Resources that a running job has given back; it continues with the rest.
struct Released {
  std::string job_id;
  NodeIndices
      nodes;  // burst buffers and bandwidth are named by the nodes that they were granted for
  Kinds covering = ALL_KINDS;
};

// The end of a waiting job's stage-in; with a reason its data is lost.
struct Staged {
  std::string job_id;
  Reason reason;
};

struct Step {
  std::vector<Request> requests;  // to send, in order
  std::vector<Ended> ended;
  std::vector<Released> released;
  std::vector<Staged> staged;

  void clear() {
    requests.clear();
    ended.clear();
    released.clear();
    staged.clear();
  }
};

}  // namespace spillway
