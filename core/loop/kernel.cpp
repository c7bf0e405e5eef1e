#include "loop/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "loop/fault.hpp"
#include "model/limits.hpp"

namespace spillway::batsim {
namespace {

/// Steps between two looks for signals.
constexpr std::int64_t BREATH = 4096;

/// Distance to the next larger number that the clock can show.
double resolution(double time_s) { return std::nextafter(time_s, NEVER) - time_s; }

}  // namespace

std::int64_t Kernel::next_number(std::int64_t count) {
  const std::int64_t number = sequence_ + 1;
  sequence_ += count;
  return number;
}

Timer Kernel::at(double time_s, std::int64_t number, Action action) {
  Timer timer;
  timers_.add(time_s, number, std::move(action), timer);
  return timer;
}

void Kernel::post(double latency_s, Action handle, Action resume) {
  posts_.push_back({latency_s, std::move(handle), std::move(resume)});
}

void Kernel::post_here(Action handle, Action resume) {
  post(own_message_s_, std::move(handle), std::move(resume));
}

void Kernel::post_first(Action handle, Action resume) {
  const std::size_t place = std::min(first_post_, posts_.size());
  posts_.insert(posts_.begin() + static_cast<std::ptrdiff_t>(place),
                {own_message_s_, std::move(handle), std::move(resume)});
}

bool Kernel::run() {
  settle();
  while (true) {
    while (!mailbox_.empty() && !receiving_ && !stopped_ && !paused_) {
      if (mailbox_.front().latency_s > 0.0) {
        arriving_ = std::move(mailbox_.front());
        mailbox_.pop_front();
        receiving_ = true;
        arriving_number_ = next_number();
        arrival_s_ = clock_s_ + arriving_.latency_s;
      } else if (instant_end_) {
        break;
      } else {  // received in no time
        Post post = std::move(mailbox_.front());
        mailbox_.pop_front();
        deal_with(std::move(post));
        settle();
      }
    }
    if (stopped_ || paused_) return true;
    if (++steps_ % BREATH == 0) breathe();
    if (!step()) return false;
  }
}

/// One step of time: to the next moment, and all that ends there. What belongs to an instant is
/// decided here alone.
bool Kernel::step() {
  before_advance();
  const double until_s = std::min(arrival_s_, timers_.next_s());
  if (until_s == NEVER && engine_.active() == 0) return false;
  instant_end_ = false;
  ended_.clear();
  engine_.advance(until_s, ended_);
  const double now_s = clock_s_ = engine_.clock_s();
  if (now_s > LATEST_S) throw Fault(Rule::LATEST_TIME, {now_s});
  const bool arrived = now_s >= arrival_s_;
  if (timers_.next_s() <= now_s + PRECISION || (!ended_.empty() && arrived)) {
    happen(arrived);
  } else if (!ended_.empty()) {
    tasks_ended(ended_);
  } else if (arrived) {
    receive_arrived();
  }
  if (spawned_.empty()) {
    deliver();
  } else {
    settle();
  }
  return true;
}

/// Handles the ends of this instant in the order of their beginnings.
void Kernel::happen(bool arrived) {
  due_.clear();
  rung_.clear();
  timers_.take(std::max(clock_s_, clock_s_ + PRECISION - 2.0 * resolution(clock_s_)), rung_);
  for (const Timer timer : rung_) due_.push_back({timer.number, Due::Kind::TIMER, timer, -1});
  if (arrived) due_.push_back({arriving_number_, Due::Kind::RECEIPT, {}, -1});
  if (due_.empty()) {
    if (!ended_.empty()) tasks_ended(ended_);
    return;
  }
  for (const Handle handle : ended_) {
    due_.push_back({task_order(handle), Due::Kind::TASK, {}, handle});
  }
  std::stable_sort(due_.begin(), due_.end(),
                   [](const Due& one, const Due& other) { return one.number < other.number; });
  for (const Due& due : due_) {
    if (due.kind == Due::Kind::RECEIPT) {
      receive_arrived();
    } else if (due.kind == Due::Kind::TASK) {
      tasks_ended({due.handle});
    } else if (const Action action = timers_.release(due.timer)) {  // not stopped by one before
      action();
    }
  }
}

void Kernel::receive_arrived() {
  receiving_ = false;
  arrival_s_ = NEVER;
  deal_with(std::move(arriving_));
}

/// Lets the server handle a message that it has received; then resumes its sender.
void Kernel::deal_with(Post post) {
  first_post_ = posts_.size();
  post.handle();
  after_receive();
  if (post.resume) post.resume();
}

/// Delivers the messages of this round, then runs new actors until no actor is left.
void Kernel::settle() {
  while (true) {
    while (!round_.empty()) {
      const Action actor = std::move(round_.front());
      round_.pop_front();
      actor();
      if (paused_) return;
    }
    deliver();
    if (spawned_.empty()) return;
    std::move(spawned_.begin(), spawned_.end(), std::back_inserter(round_));
    spawned_.clear();
  }
}

void Kernel::deliver() {
  std::move(posts_.begin(), posts_.end(), std::back_inserter(mailbox_));
  posts_.clear();
}

}  // namespace spillway::batsim
