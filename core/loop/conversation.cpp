#include "loop/conversation.hpp"

#include <chrono>

#include "loop/fault.hpp"
#include "model/limits.hpp"
#include "model/rounding.hpp"

namespace spillway::batsim {

void Conversation::send(Event event) {
  message_.events.push_back(std::move(event));
  kernel_.spawn([this] { exchange(); });
}

void Conversation::maybe_send() {
  if (server_.next_message(message_.events)) kernel_.spawn([this] { exchange(); });
}

void Conversation::exchange() {
  message_.now_s = rounded(kernel_.clock_s(), options_.decimals);
  reply_.requests.clear();
  ++messages_;
  bool answered = false;
  if (options_.wall_clock) {
    const auto before = std::chrono::steady_clock::now();
    answered = scheduler_.exchange(message_, reply_);
    thinking_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  } else {
    answered = scheduler_.exchange(message_, reply_);
  }
  message_.events.clear();
  if (answered) {
    start();
  } else {
    kernel_.pause();
  }
}

void Conversation::answer(Reply reply) {
  kernel_.go_on();
  reply_ = std::move(reply);
  start();
}

bool Conversation::go_on() {
  if (!scheduler_.go_on(reply_)) return false;
  kernel_.go_on();
  start();
  return true;
}

void Conversation::start() {
  if (!(-LATEST_S <= reply_.now_s && reply_.now_s <= LATEST_S)) {
    throw Fault(Rule::NOW_RANGE, {reply_.now_s});
  }
  next_ = 0;
  closed_ = server_.registration_finished;
  proceed();
}

/// Sends the next request at its time, or the note that the scheduler is ready.
void Conversation::proceed() {
  const bool more = next_ < reply_.requests.size();
  if (more) check(reply_.requests[next_]);
  const double moment_s = more ? reply_.requests[next_].time_s : reply_.now_s;
  if (moment_s > kernel_.clock_s()) {
    kernel_.at(moment_s, [this] { woken(); });
  } else if (more) {
    kernel_.post_first([this] { deliver(false); }, [this] { proceed(); });
  } else {
    kernel_.post_first([this] { server_.reply_done(); });
  }
}

/// Refuses an invalid request.
void Conversation::check(const Request& request) const {
  if (!(request.time_s <= reply_.now_s)) {
    Fault fault(Rule::LATER_THAN_NOW, {reply_.now_s, request.time_s});
    fault.index = request.index;
    throw fault;
  }
  requests_.check_registration(request, closed_);
}

void Conversation::deliver(bool slept) {
  const Request& request = reply_.requests[next_++];
  closed_ = server_.registration_finished;
  requests_.handle(request);
  if (server_.forced) {  // the rest of the reply is dropped, and the scheduler ready at once
    next_ = reply_.requests.size();
    reply_.now_s = kernel_.clock_s();
  }
  if (slept) closed_ = server_.registration_finished;
}

/// Delivers what is due; other events of this instant may have sent messages before it.
void Conversation::woken() {
  if (next_ < reply_.requests.size()) {
    kernel_.post_here([this] { deliver(true); }, [this] { proceed(); });
  } else {
    kernel_.post_here([this] { server_.reply_done(); });
  }
}

}  // namespace spillway::batsim
