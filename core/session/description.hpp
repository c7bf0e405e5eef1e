// The profile of an operation as its job model describes it, before it has a name in the simulator.
#pragma once
#include <cstring>
#include <string>
#include <utility>

#include "model/amount.hpp"
#include "model/payload.hpp"
#include "model/profile.hpp"

namespace spillway {

// Two descriptions are one profile, registered once, if they have the same numbers (`key`); with
// lists or objects among their members, if they are the same object (`identity`).
struct Description : Payload {
  std::string kind;                // Batsim's type
  std::string key;                 // equal for equal profiles; empty: they count by identity
  const void* identity = nullptr;  // address of something that this description keeps alive

  // The work in the simulator's terms. PROGRAM without a program: the embedding reads it when it is
  // registered.
  virtual Work work() const = 0;
};

// Key of a profile by its members, in their order; 20 and 20.0 are equal.
class ProfileKey {
 public:
  ProfileKey& member(const std::string& name) { return text(name); }
  ProfileKey& text(const std::string& value) {
    key_ += 's';
    key_ += value;
    key_ += '\0';
    return *this;
  }
  ProfileKey& number(const Amount& amount) {
    if (!amount.is_exact()) return digits(std::to_string(amount.exact));
    const double value = amount.value + 0.0;  // no -0.0
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    key_ += 'n';
    key_.append(bytes, sizeof bytes);
    return *this;
  }
  // A whole number that no double is.
  ProfileKey& digits(const std::string& value) {
    key_ += 'i';
    key_ += value;
    key_ += '\0';
    return *this;
  }
  // A value of another kind.
  ProfileKey& mark(char kind) {
    key_ += kind;
    return *this;
  }
  std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

using DescriptionPtr = std::shared_ptr<Description>;

}  // namespace spillway
