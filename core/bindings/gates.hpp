// A gate with names for turns and applications; a runtime numbers its own from 0.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "session/gate.hpp"

namespace spillway::bindings {

class NamedGate {
 public:
  std::shared_ptr<Gate> gate;

  std::int64_t number_of(const std::string& name);
  std::string name_of(std::int64_t number) const;

 protected:
  explicit NamedGate(std::shared_ptr<Gate> it) : gate(std::move(it)) {}

 private:
  static constexpr std::int64_t FIRST_NAMED = std::int64_t{1} << 62;
  std::unordered_map<std::string, std::int64_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace spillway::bindings
