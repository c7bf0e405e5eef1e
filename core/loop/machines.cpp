#include "loop/machines.hpp"

#include <utility>

namespace spillway::batsim {

Machines::Machines(std::vector<std::int32_t> hosts, std::size_t compute_count,
                   std::function<Way(std::int32_t)> way)
    : hosts_(std::move(hosts)),
      compute_count_(compute_count),
      find_way_(std::move(way)),
      ways_(hosts_.size()),
      states_(hosts_.size(), MachineState::IDLE),
      jobs_(hosts_.size(), 0),
      since_(hosts_.size(), 0.0) {
  counters_[static_cast<std::size_t>(MachineState::IDLE)] =
      static_cast<std::int64_t>(compute_count_);
}

const Way& Machines::way(std::int32_t machine) {
  std::optional<Way>& found = ways_[static_cast<std::size_t>(machine)];
  // Looked up at its first use: storage hosts send no messages, and published platforms state no
  // route from them.
  if (!found) found = find_way_(machine);
  return *found;
}

void Machines::change(std::int32_t machine, MachineState state, double now_s) {
  const auto at = static_cast<std::size_t>(machine);
  const MachineState old = states_[at];
  time_in_[static_cast<std::size_t>(old)] += now_s - since_[at];
  since_[at] = now_s;
  if (old == state) return;
  --counters_[static_cast<std::size_t>(old)];
  ++counters_[static_cast<std::size_t>(state)];
  states_[at] = state;
}

void Machines::occupy(const std::vector<std::int32_t>& ids, double now_s) {
  for (const std::int32_t machine : ids) {
    ++jobs_[static_cast<std::size_t>(machine)];
    change(machine, MachineState::COMPUTING, now_s);
  }
}

void Machines::leave(const std::vector<std::int32_t>& ids, double now_s) {
  for (const std::int32_t machine : ids) {
    const auto at = static_cast<std::size_t>(machine);
    if (--jobs_[at] == 0 && states_[at] != MachineState::UNAVAILABLE) {
      change(machine, MachineState::IDLE, now_s);
    }
  }
}

bool Machines::check() const {
  std::array<std::int64_t, MACHINE_STATES> counted{};
  for (const MachineState state : states_) ++counted[static_cast<std::size_t>(state)];
  counted[static_cast<std::size_t>(MachineState::IDLE)] -=
      static_cast<std::int64_t>(storage_count());
  for (const std::int32_t count : jobs_) {
    if (count < 0) return false;
  }
  return counted == counters_;
}

}  // namespace spillway::batsim
