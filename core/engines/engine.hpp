#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engines/task.hpp"
#include "model/resource.hpp"

namespace spillway {

/// Number of a task; grows with each start of an engine, is never used twice.
using Handle = std::int64_t;

/// A machine on which parallel tasks run, and its clock in seconds since the start of the
/// simulation.
///
/// A caller starts tasks at the present clock and moves the clock; `advance` stops at the first end
/// of a task and tells which tasks ended. No call for the next end need precede it.
class Engine {
 public:
  /// Progress that `cancel` and `progress` return for a task that is not active.
  static constexpr double NOT_ACTIVE = -1.0;
  /// What `start` returns for a task that is not in the engine's model.
  static constexpr Handle NOT_PLAYED = -1;

  virtual ~Engine() = default;

  double clock_s() const { return clock_s_; }

  /// Whether a task that has work can end at the instant of its start.
  virtual bool ends_at_once() const = 0;

  /// Number of tasks that have started and neither ended nor been cancelled.
  virtual std::size_t active() const = 0;

  /// Starts a task at the present clock. Its latency passes first, then its work begins; a task
  /// without any work ends in the next `advance`, without time passing.
  virtual Handle start(const Task& task) = 0;

  /// Starts a task that uses no resource and ends after a time, at least 0 s and finite.
  virtual Handle sleep(double seconds) = 0;

  /// Removes a task; returns its progress in [0, 1], or `NOT_ACTIVE`.
  virtual double cancel(Handle handle) = 0;

  /// Progress in [0, 1] at the present clock (0 while the latency passes), or `NOT_ACTIVE`.
  virtual double progress(Handle handle) const = 0;

  /// Instant at which the next task ends if nothing is started or cancelled before; `NEVER` without
  /// such a task.
  virtual double next_completion() = 0;

  /// Moves the clock to `until_s` (not before the clock) or to the next end, whichever comes first,
  /// and appends the tasks that ended there, in the order in which SimGrid tells them: that of
  /// their starts. The clock stays where it is if `until_s` is `NEVER` and no task can end.
  virtual void advance(double until_s, std::vector<Handle>& ended) = 0;

  /// One step of SimGrid: lets `most_s` pass, or the time to this engine's next event if that is
  /// sooner, be it only the end of a latency; appends the tasks that ended. Returns the seconds
  /// that have passed; `NEVER` if `most_s` is that and no event can happen.
  virtual double step(double most_s, std::vector<Handle>& ended);

  /// Changes the speed of a host, flop/s of one core; tasks that run continue at the new speed.
  virtual void change_speed(std::int32_t host, double speed) = 0;

 protected:
  double clock_s_ = 0.0;
};

}  // namespace spillway
