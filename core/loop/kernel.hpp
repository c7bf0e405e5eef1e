#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "engines/engine.hpp"
#include "loop/timers.hpp"
#include "loop/way.hpp"

namespace spillway::batsim {

/// Simulated time: timers, the server's mailbox, and the order of the events of one instant.
///
/// Batsim's parts are SimGrid actors which send one-byte messages to one server actor. Three facts
/// of that machinery are visible to a scheduler and are reproduced here:
///
/// * The server receives one message after another; each takes as long as one byte on the route
/// from the sender's host
///   to the master. A message sent meanwhile waits in the mailbox, first come first served. A
///   message from the master host itself takes its own route: 1e-10 s if the platform states no
///   such route, 15 us on some machines. Beyond 1e6 s 1e-10 s is less than the clock resolves: such
///   a message takes a step of its own, and no time.
/// * A sender continues when its message has been received and handled by the server.
/// * Time advances in SimGrid's steps: the least of what is left of all timers, of the message that
/// is
///   received (its latency, then its byte) and of the engine's tasks. Each step is subtracted from
///   all; what has less than a nanosecond left has ended. Events that end in one step are handled
///   in the order of their beginnings, and their messages are in the mailbox only afterwards. Two
///   ends that are nominally one may fall into two steps, by rounding errors: then the message of
///   the first is in the mailbox when the second is handled, though the clock shows one time.
///
/// There are no jobs or schedulers here.
class Kernel {
 public:
  /// `engine` runs parallel tasks; its clock and this one move together. `own`: the way of a
  /// message from the master to itself.
  Kernel(Engine& engine, Way own) : engine_(engine), own_(own) {}

  double clock_s() const { return clock_s_; }
  Engine& engine() const { return engine_; }

  /// Called each time the server has handled a message.
  Action after_receive = [] {};
  /// Called before time advances, to start the tasks collected for this instant.
  Action before_advance = [] {};
  /// Called with tasks that have ended, in the order of the engine.
  std::function<void(const std::vector<Handle>&)> tasks_ended;
  /// The place of a task among all timers and tasks.
  std::function<std::int64_t(Handle)> task_order;
  /// Called every few thousand steps, so that the embedding can look for signals.
  Action breathe = [] {};

  /// First of `count` numbers greater than all before: the order in which timers and tasks were
  /// made.
  std::int64_t next_number(std::int64_t count = 1);

  /// Sets a timer to a moment, s.
  Timer at(double time_s, Action action) { return after(time_s - clock_s_, std::move(action)); }
  /// Sets a timer to a time from now on, s.
  Timer after(double seconds, Action action) {
    return after(seconds, next_number(), std::move(action));
  }
  /// Sets a timer with a number of `next_number`.
  Timer after(double seconds, std::int64_t number, Action action);
  void forget(Timer timer) { timers_.forget(timer); }

  /// Sends a message to the server on this way: `handle` is the server's work, `resume` what its
  /// sender does after that.
  void post(Way way, Action handle, Action resume = {});
  /// The same from the master host.
  void post_here(Action handle, Action resume = {});
  /// The same, before the messages that new actors have sent in this round: actors woken by the
  /// server's work run before the actors which that work created.
  void post_first(Action handle, Action resume = {});
  /// Runs a new actor at this instant, after the present actors have sent their messages.
  void spawn(Action actor) { spawned_.push_back(std::move(actor)); }

  /// Whether no message waits for the server; the one that is being received does not wait.
  bool mailbox_empty() const { return mailbox_.empty(); }

  /// Notes that a task without work starts in this instant: it ends before messages that take no
  /// time.
  void task_ends_at_once() { instant_end_ = true; }

  /// Leaves `run` for good.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  /// Leaves `run` until an input from outside of simulated time has come; what is due at this
  /// instant stays due.
  void pause() { paused_ = true; }
  void go_on() { paused_ = false; }
  bool paused() const { return paused_; }

  /// Advances time until stopped or paused; false if no event can happen any more.
  bool run();

 private:
  /// A message on its way.
  struct Post {
    Way way;
    Action handle;
    Action resume;
  };
  /// The end of a timer, of a task, or of the receipt of a message.
  struct Due {
    enum class Kind : std::uint8_t { TIMER, TASK, RECEIPT };
    std::int64_t number;
    Kind kind;
    Timer timer;
    Handle handle;
  };

  bool step();
  void happen(bool arrived);
  double to_arrival_s() const;
  bool pass_arrival(double seconds);
  void receive_arrived();
  void deal_with(Post post);
  void settle();
  void deliver();

  Engine& engine_;
  Way own_;
  double clock_s_ = 0.0;
  bool stopped_ = false;
  bool paused_ = false;
  bool instant_end_ = false;
  std::int64_t sequence_ = 0;
  std::int64_t steps_ = 0;
  Timers timers_;
  std::deque<Post> mailbox_;
  /// Messages sent in this round; those before `first_post_` precede those of the server's work.
  std::vector<Post> posts_;
  std::size_t first_post_ = 0;
  /// The message that is being received, its time and number.
  Post arriving_;
  bool receiving_ = false;
  double latency_left_s_ = 0.0;
  double byte_left_ = 0.0;
  std::int64_t arriving_number_ = 0;
  std::vector<Action> spawned_;
  std::deque<Action> round_;
  std::vector<Handle> ended_;
  std::vector<Timer> rung_;
  std::vector<Due> due_;
};

}  // namespace spillway::batsim
