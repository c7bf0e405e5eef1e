// Simulated time: timers, the mailbox, and the order of the events of one instant.

#include "loop/kernel.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"

namespace {

using spillway::Engine;
using spillway::Handle;
using spillway::NEVER;
using spillway::Task;
using spillway::batsim::Action;
using spillway::batsim::Kernel;
using spillway::batsim::Timer;

/// Tasks that take as many seconds as the flop of their first host.
class Seconds final : public Engine {
 public:
  bool ends_at_once() const override { return true; }
  std::size_t active() const override { return ends_.size(); }
  Handle start(const Task& task) override { return sleep(task.work(0)); }
  Handle sleep(double seconds) override {
    ends_.push_back({clock_s_ + seconds, next_});
    return next_++;
  }
  double cancel(Handle) override { return NOT_ACTIVE; }
  double progress(Handle) const override { return NOT_ACTIVE; }
  double next_completion() override {
    double first_s = NEVER;
    for (const auto& end : ends_) first_s = std::min(first_s, end.first);
    return first_s;
  }
  void advance(double until_s, std::vector<Handle>& ended) override {
    const double now_s = std::min(until_s, next_completion());
    if (now_s == NEVER) return;
    clock_s_ = now_s;
    for (auto end = ends_.begin(); end != ends_.end();) {
      if (end->first <= now_s) {
        ended.push_back(end->second);
        end = ends_.erase(end);
      } else {
        ++end;
      }
    }
  }
  void change_speed(std::int32_t, double) override {}

 private:
  std::vector<std::pair<double, Handle>> ends_;
  Handle next_ = 0;
};

struct World {
  explicit World(double own_s = 0.0) : kernel(engine, spillway::batsim::Way{own_s}) {}

  /// Writes its name and the time into the log.
  Action note(const std::string& name) {
    return [this, name] { log.emplace_back(kernel.clock_s(), name); };
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : log) found.push_back(entry.second);
    return found;
  }

  Seconds engine;
  Kernel kernel;
  std::vector<std::pair<double, std::string>> log;
};

using Names = std::vector<std::string>;

}  // namespace

CORE_TEST(timers_of_one_instant_ring_in_the_order_of_their_making) {
  World world;
  world.kernel.at(2.0 + 4e-10, world.note("first"));
  world.kernel.at(2.0, world.note("second"));
  world.kernel.at(1.0, world.note("before"));
  EXPECT(!world.kernel.run());
  EXPECT((world.names() == Names{"before", "first", "second"}));
  EXPECT(world.log[1].first == 2.0);
}

CORE_TEST(forgotten_timers_do_not_ring_nor_move_the_clock) {
  World world;
  Timer other;
  world.kernel.at(1.0, [&] { world.kernel.forget(other); });
  other = world.kernel.at(1.0, world.note("same instant"));
  world.kernel.forget(world.kernel.at(5.0, world.note("later")));
  world.kernel.run();
  EXPECT(world.log.empty());
  EXPECT(world.kernel.clock_s() == 1.0);
}

CORE_TEST(messages_are_received_one_after_another_and_the_sender_continues_after_the_server) {
  World world;
  world.kernel.post({0.5}, world.note("a"), world.note("sender of a"));
  world.kernel.post({}, world.note("b"));
  world.kernel.post({0.25}, world.note("c"));
  world.kernel.run();
  EXPECT((world.names() == Names{"a", "sender of a", "b", "c"}));
  EXPECT(world.log[2].first == 0.5);
  EXPECT(world.log[3].first == 0.75);
}

CORE_TEST(a_message_of_the_master_takes_its_own_route) {
  World world(0.25);
  world.kernel.post_here(world.note("first"),
                         [&] { world.kernel.post_first(world.note("second")); });
  world.kernel.run();
  EXPECT(world.log[0].first == 0.25);
  EXPECT(world.log[1].first == 0.5);
}

CORE_TEST(the_mailbox_is_empty_while_the_only_message_is_on_its_way) {
  World world;
  std::vector<bool> empty;
  world.kernel.after_receive = [&] { empty.push_back(world.kernel.mailbox_empty()); };
  world.kernel.post({0.5}, [] {});
  world.kernel.post({0.5}, [] {});
  world.kernel.run();
  EXPECT((empty == std::vector<bool>{false, true}));
}

CORE_TEST(what_is_sent_at_an_arrival_is_not_in_the_mailbox_yet) {
  for (const auto& [moment_s, waits] :
       {std::pair(1.0 - 2e-9, true), {1.0, false}, {1.0 + 5e-10, false}}) {
    World world;
    std::vector<bool> empty;
    world.kernel.post({1.0}, world.note("arrival"));
    world.kernel.at(moment_s, [&] { world.kernel.post({}, world.note("sent")); });
    world.kernel.after_receive = [&] { empty.push_back(world.kernel.mailbox_empty()); };
    world.kernel.run();
    EXPECT((world.names() == Names{"arrival", "sent"}));
    EXPECT((empty == std::vector<bool>{!waits, true}));
  }
}

CORE_TEST(a_message_has_its_latency_and_then_its_byte) {
  World world;
  world.kernel.post({0.5, 4.0}, world.note("arrival"));
  world.kernel.at(0.5, world.note("latency over"));
  world.kernel.run();
  EXPECT((world.names() == Names{"latency over", "arrival"}));
  EXPECT(world.log[1].first == 0.75);
}

CORE_TEST(new_actors_run_after_what_was_sent) {
  World world;
  world.kernel.post(
      {},
      [&] {
        world.kernel.spawn([&] { world.kernel.post({}, world.note("spawned")); });
        world.kernel.post({}, world.note("posted"));
      },
      [&] { world.kernel.post_first(world.note("overtakes")); });
  world.kernel.run();
  EXPECT((world.names() == Names{"overtakes", "posted", "spawned"}));
}

CORE_TEST(tasks_end_in_the_order_of_their_making_among_timers) {
  World world;
  world.kernel.at(3.0, world.note("timer 1"));
  const std::int64_t number = world.kernel.next_number();
  world.kernel.at(3.0, world.note("timer 2"));
  Task task;
  task.hosts = {0};
  task.flops = {3.0};
  world.engine.start(task);
  world.kernel.task_order = [number](Handle) { return number; };
  world.kernel.tasks_ended = [&](const std::vector<Handle>&) { world.note("task")(); };
  world.kernel.run();
  EXPECT((world.names() == Names{"timer 1", "task", "timer 2"}));
}

CORE_TEST(the_loop_is_left_on_request) {
  World world;
  world.kernel.at(1.0, [&] { world.kernel.stop(); });
  world.kernel.at(2.0, world.note("never"));
  EXPECT(world.kernel.run());
  EXPECT(world.log.empty());
}

CORE_TEST(a_paused_instant_goes_on_where_it_was_left) {
  World world;
  world.kernel.spawn([&] { world.kernel.post({}, world.note("sent before")); });
  world.kernel.spawn([&] {
    world.note("asks")();
    world.kernel.pause();
  });
  world.kernel.spawn(world.note("behind"));
  world.kernel.at(1.0, world.note("later"));
  EXPECT(world.kernel.run());
  EXPECT((world.names() == Names{"asks"}));
  world.kernel.go_on();
  world.kernel.run();
  EXPECT((world.names() == Names{"asks", "behind", "sent before", "later"}));
}
