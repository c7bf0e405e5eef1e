#include "loop/timers.hpp"

#include <algorithm>
#include <utility>

#include "model/precision.hpp"

namespace spillway::batsim {

void Timers::add(double left_s, std::int64_t number, Action action, Timer& timer) {
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
  slot.place = left_s_.size();
  left_s_.push_back(left_s);
  running_.push_back(timer.slot);
}

void Timers::forget(Timer timer) {
  if (!timer.set() || slots_[timer.slot].number != timer.number) return;
  const std::size_t place = slots_[timer.slot].place;
  if (place != NONE) remove(place);
  release(timer);
}

double Timers::least_s() const {
  double least_s = NEVER;
  for (const double left_s : left_s_) least_s = std::min(least_s, left_s);
  return least_s;
}

void Timers::pass(double seconds, std::vector<Timer>& due) {
  for (double& left_s : left_s_) left_s -= seconds;
  for (std::size_t place = 0; place < left_s_.size();) {
    if (left_s_[place] >= TIME_PRECISION) {
      ++place;
      continue;
    }
    const std::size_t slot = running_[place];
    due.push_back({slots_[slot].number, slot});
    remove(place);
  }
}

/// Takes a timer out of those that run; the last of them takes its place.
void Timers::remove(std::size_t place) {
  slots_[running_[place]].place = NONE;
  if (place + 1 < left_s_.size()) {
    left_s_[place] = left_s_.back();
    running_[place] = running_.back();
    slots_[running_[place]].place = place;
  }
  left_s_.pop_back();
  running_.pop_back();
}

Action Timers::release(Timer timer) {
  Slot& slot = slots_[timer.slot];
  if (slot.number != timer.number) return {};
  slot.number = -1;
  unused_.push_back(timer.slot);
  return std::exchange(slot.action, {});
}

}  // namespace spillway::batsim
