#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "loop/kernel.hpp"
#include "loop/options.hpp"
#include "loop/requests.hpp"
#include "loop/server.hpp"
#include "model/messages.hpp"

namespace spillway::batsim {

/// The conversation with the scheduler: one message, one reply, each request carried out at its own
/// time.
///
/// Batsim does this with an actor of its own: it takes the requests in their order, sleeps until
/// the time of each, and hands it to the server as a message, one after another; last it reports
/// that the scheduler is ready again. It reads the next request just before the server handles the
/// last one, unless it had to wait for the time of the last one. So the state before the last
/// request decides whether registration is open.
class Conversation {
 public:
  Conversation(Kernel& kernel, Server& server, Requests& requests, Scheduler& scheduler,
               const LoopOptions& options)
      : kernel_(kernel),
        server_(server),
        requests_(requests),
        scheduler_(scheduler),
        options_(options) {}

  /// Exchanges a message with this event for a reply, once the actors of this moment have run.
  void send(Event event);
  /// Sends the pending events, if a message is due.
  void maybe_send();
  /// Continues with the reply to the last message, which the scheduler did not have at once.
  void answer(Reply reply);
  /// Asks the scheduler to go on with its answer; false: it pauses again.
  bool go_on();

  /// Number of messages sent.
  std::int64_t messages() const { return messages_; }
  /// Real time spent waiting for the scheduler, s.
  double thinking_s() const { return thinking_s_; }

 private:
  void exchange();
  void start();
  void proceed();
  void check(const Request& request) const;
  void deliver(bool slept);
  void woken();

  Kernel& kernel_;
  Server& server_;
  Requests& requests_;
  Scheduler& scheduler_;
  const LoopOptions& options_;
  Message message_;
  Reply reply_;
  std::size_t next_ = 0;
  bool closed_ = false;
  std::int64_t messages_ = 0;
  double thinking_s_ = 0.0;
};

}  // namespace spillway::batsim
