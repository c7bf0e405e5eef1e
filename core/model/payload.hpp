// Things of the caller's own language that travel through the core unread: a job's fields, a
// profile.
#pragma once
#include <memory>

namespace spillway {

// Something that the core keeps for its caller and never looks into.
struct Payload {
  Payload() = default;
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;
  virtual ~Payload() = default;
};

using PayloadPtr = std::shared_ptr<Payload>;

}  // namespace spillway
