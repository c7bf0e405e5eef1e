#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/resource.hpp"

namespace spillway::batsim {

/// What happens: of a timer, a message, an actor.
using Action = std::function<void()>;

/// A timer that was set; its number orders all timers and tasks by their making.
struct Timer {
  std::int64_t number = -1;
  std::size_t slot = 0;

  bool set() const { return number >= 0; }
};

/// Timers by the time that is left of each, from which every step subtracts its own length.
///
/// This is SimGrid's arithmetic of a sleep: no moment of its end is kept, so rounding errors add up
/// as they do there, and two ends that are nominally one fall into one step or into two as there.
class Timers {
 public:
  void add(double left_s, std::int64_t number, Action action, Timer& timer);

  /// Drops a timer, unless its action was released.
  void forget(Timer timer);

  /// Least time that is left of a timer, s; `NEVER` without one.
  double least_s() const;

  /// Lets time pass and takes the timers that have ended; they can still be forgotten.
  void pass(double seconds, std::vector<Timer>& due);

  /// The action of a timer that was taken; empty if it was forgotten since. It is released.
  Action release(Timer timer);

 private:
  struct Slot {
    std::int64_t number = -1;
    Action action;
    /// Place among the timers that run; none once it was taken.
    std::size_t place = NONE;
  };
  static constexpr std::size_t NONE = static_cast<std::size_t>(-1);

  void remove(std::size_t place);

  std::vector<double> left_s_;
  /// Slots of the timers that run, beside `left_s_`.
  std::vector<std::size_t> running_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> unused_;
};

}  // namespace spillway::batsim
