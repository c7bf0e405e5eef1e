#include "loop/timers.hpp"

#include <utility>

#include "engines/engine.hpp"

namespace spillway::batsim {

void Timers::add(double time_s, std::int64_t number, Action action, Timer& timer) {
  timer.number = number;
  if (unused_.empty()) {
    timer.slot = slots_.size();
    slots_.emplace_back();
  } else {
    timer.slot = unused_.back();
    unused_.pop_back();
  }
  Slot& slot = slots_[timer.slot];
  slot.number = number;
  slot.action = std::move(action);
  heap_.push({time_s, timer});
}

void Timers::forget(Timer timer) {
  if (timer.set() && live(timer)) release(timer);
}

double Timers::next_s() {
  while (!heap_.empty() && !live(heap_.top().timer)) heap_.pop();
  return heap_.empty() ? NEVER : heap_.top().time_s;
}

void Timers::take(double until_s, std::vector<Timer>& due) {
  while (next_s() <= until_s) {
    due.push_back(heap_.top().timer);
    heap_.pop();
    if (heap_.empty()) return;
  }
}

Action Timers::release(Timer timer) {
  Slot& slot = slots_[timer.slot];
  if (slot.number != timer.number) return {};
  slot.number = -1;
  unused_.push_back(timer.slot);
  return std::exchange(slot.action, {});
}

}  // namespace spillway::batsim
