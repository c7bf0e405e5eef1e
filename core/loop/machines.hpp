#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "loop/way.hpp"

namespace spillway::batsim {

/// State of a machine; the value is its place in counters.
enum class MachineState : std::uint8_t {
  SLEEPING,
  SWITCHING_ON,
  SWITCHING_OFF,
  IDLE,
  COMPUTING,
  UNAVAILABLE
};

constexpr std::size_t MACHINE_STATES = 6;

/// All machines as Batsim numbers them, compute hosts first: their states, jobs, and the
/// machine-seconds in each state.
class Machines {
 public:
  /// `hosts`: platform's host by machine; the first `compute_count` compute, the others are storage
  /// hosts. `way`: that of a message from a machine to the master, asked once for each machine.
  Machines(std::vector<std::int32_t> hosts, std::size_t compute_count,
           std::function<Way(std::int32_t)> way);

  std::size_t size() const { return hosts_.size(); }
  std::size_t compute_count() const { return compute_count_; }
  std::size_t storage_count() const { return size() - compute_count_; }
  std::int32_t host(std::int32_t machine) const {
    return hosts_[static_cast<std::size_t>(machine)];
  }
  bool is_storage(std::int32_t machine) const {
    return static_cast<std::size_t>(machine) >= compute_count_;
  }
  MachineState state(std::int32_t machine) const {
    return states_[static_cast<std::size_t>(machine)];
  }
  /// Number of jobs on a machine.
  std::int32_t jobs(std::int32_t machine) const { return jobs_[static_cast<std::size_t>(machine)]; }
  const std::vector<std::int32_t>& jobs() const { return jobs_; }
  const std::vector<MachineState>& states() const { return states_; }

  /// Number of machines per state. Storage hosts are not counted until they change, as in Batsim.
  const std::array<std::int64_t, MACHINE_STATES>& counters() const { return counters_; }
  /// Machine-seconds spent per state, up to each machine's last change.
  const std::array<double, MACHINE_STATES>& time_in() const { return time_in_; }

  /// Way of a message from a machine to the master.
  const Way& way(std::int32_t machine);

  /// Changes one machine's state.
  void change(std::int32_t machine, MachineState state, double now_s);
  /// Notes the start of a job on machines.
  void occupy(const std::vector<std::int32_t>& ids, double now_s);
  /// Notes the end of a job on machines; an unavailable machine stays unavailable.
  void leave(const std::vector<std::int32_t>& ids, double now_s);

  /// Whether counters and states agree, and no number of jobs is negative.
  bool check() const;

 private:
  std::vector<std::int32_t> hosts_;
  std::size_t compute_count_;
  std::function<Way(std::int32_t)> find_way_;
  std::vector<std::optional<Way>> ways_;
  std::vector<MachineState> states_;
  std::vector<std::int32_t> jobs_;
  /// Since when the present state lasts, or was last counted.
  std::vector<double> since_;
  std::array<std::int64_t, MACHINE_STATES> counters_{};
  std::array<double, MACHINE_STATES> time_in_{};
};

}  // namespace spillway::batsim
