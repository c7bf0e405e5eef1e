#include "loop/kernel.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "loop/fault.hpp"
#include "model/limits.hpp"
#include "model/precision.hpp"

namespace spillway::batsim {
namespace {

/// Steps between two looks for signals.
constexpr std::int64_t BREATH = 4096;

}  // namespace

std::int64_t Kernel::next_number(std::int64_t count) {
  const std::int64_t number = sequence_ + 1;
  sequence_ += count;
  return number;
}

Timer Kernel::after(double seconds, std::int64_t number, Action action) {
  Timer timer;
  timers_.add(seconds, number, std::move(action), timer);
  return timer;
}

void Kernel::post(Way way, Action handle, Action resume) {
  posts_.push_back({way, std::move(handle), std::move(resume)});
}

void Kernel::post_here(Action handle, Action resume) {
  post(own_, std::move(handle), std::move(resume));
}

void Kernel::post_first(Action handle, Action resume) {
  const std::size_t place = std::min(first_post_, posts_.size());
  posts_.insert(posts_.begin() + static_cast<std::ptrdiff_t>(place),
                {own_, std::move(handle), std::move(resume)});
}

bool Kernel::run() {
  settle();
  while (true) {
    while (!mailbox_.empty() && !receiving_ && !stopped_ && !paused_) {
      if (mailbox_.front().way.takes_time()) {
        arriving_ = std::move(mailbox_.front());
        mailbox_.pop_front();
        receiving_ = true;
        arriving_number_ = next_number();
        latency_left_s_ = arriving_.way.latency_s;
        byte_left_ = 1.0;
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
  const double most_s = std::min(to_arrival_s(), timers_.least_s());
  instant_end_ = false;
  ended_.clear();
  rung_.clear();
  const double passed_s = engine_.step(most_s, ended_);
  if (passed_s == NEVER) return false;
  const double now_s = clock_s_ = engine_.clock_s();
  if (now_s > LATEST_S) throw Fault(Rule::LATEST_TIME, {now_s});
  timers_.pass(passed_s, rung_);
  const bool arrived = pass_arrival(passed_s);
  if (!rung_.empty() || (!ended_.empty() && arrived)) {
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

/// Time to the end of the latency of the message that is received, then to that of its byte, s.
double Kernel::to_arrival_s() const {
  if (!receiving_) return NEVER;
  return latency_left_s_ > 0.0 ? latency_left_s_ : byte_left_ / arriving_.way.bytes_per_s;
}

/// Lets time pass for that message; whether it has been received.
bool Kernel::pass_arrival(double seconds) {
  if (!receiving_) return false;
  if (latency_left_s_ > 0.0) {
    latency_left_s_ -= seconds;
    if (latency_left_s_ >= TIME_PRECISION) return false;
    latency_left_s_ = 0.0;
    return arriving_.way.bytes_per_s == NEVER;
  }
  byte_left_ -= arriving_.way.bytes_per_s * seconds;
  return byte_left_ < WORK_PRECISION;
}

/// Handles the ends of this instant in the order of their beginnings.
void Kernel::happen(bool arrived) {
  due_.clear();
  for (const Timer timer : rung_) due_.push_back({timer.number, Due::Kind::TIMER, timer, -1});
  if (arrived) due_.push_back({arriving_number_, Due::Kind::RECEIPT, {}, -1});
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
