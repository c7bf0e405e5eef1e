#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace spillway::batsim {

/// What happens: of a timer, a message, an actor.
using Action = std::function<void()>;

/// A timer that was set; its number orders all timers and tasks by their making.
struct Timer {
  std::int64_t number = -1;
  std::size_t slot = 0;

  bool set() const { return number >= 0; }
};

/// Timers by time, those of one time by number.
///
/// A forgotten timer leaves the heap when it comes to the top, which is looked at before the next
/// moment is computed: a stop of the engine at its time would change the rounding of what is left
/// of each task.
class Timers {
 public:
  void add(double time_s, std::int64_t number, Action action, Timer& timer);

  /// Drops a timer, unless it has fired.
  void forget(Timer timer);

  /// Time of the first timer; `NEVER` without one.
  double next_s();

  /// Takes the timers up to a time; they can still be forgotten.
  void take(double until_s, std::vector<Timer>& due);

  /// The action of a timer that was taken; empty if it was forgotten since. It is released.
  Action release(Timer timer);

 private:
  struct Entry {
    double time_s;
    Timer timer;
    bool operator<(const Entry& other) const {  // the queue has the largest on top
      return time_s != other.time_s ? time_s > other.time_s : timer.number > other.timer.number;
    }
  };
  struct Slot {
    std::int64_t number = -1;
    Action action;
  };

  bool live(Timer timer) const { return slots_[timer.slot].number == timer.number; }

  std::priority_queue<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> unused_;
};

}  // namespace spillway::batsim
