#include "session/gate.hpp"

#include <map>
#include <random>
#include <set>

#include "check.hpp"

using namespace spillway;

namespace {

using Keys = Gate::Keys;

/// Requests a turn; returns the turns that begin now.
Keys request(Gate& gate, std::int64_t key, std::int64_t application, std::int32_t node,
             double volume_bytes, double now_s) {
  Turn turn;
  turn.key = key;
  turn.application = application;
  turn.node = node;
  turn.volume_bytes = volume_bytes;
  turn.requested_s = now_s;
  Keys begun;
  EXPECT(gate.request(turn, begun) == Gate::Fault::NONE);
  return begun;
}

Keys release(Gate& gate, std::int64_t key, double now_s) {
  Keys begun;
  EXPECT(gate.release(key, now_s, begun) == Gate::Fault::NONE);
  return begun;
}

double waited_s(Gate& gate, std::int64_t application, double now_s) {
  Account closed;
  EXPECT(gate.leave(application, now_s, closed) == Gate::Fault::NONE);
  return closed.waited_s;
}

}  // namespace

CORE_TEST(a_shared_gate_lets_all_in_at_once) {
  SharedGate gate;
  EXPECT(request(gate, 1, 1, 0, 5.0, 0.0) == Keys{1});
  EXPECT(request(gate, 2, 2, 0, 5.0, 0.0) == Keys{2});
  EXPECT(release(gate, 1, 3.0).empty());
  EXPECT(waited_s(gate, 1, 3.0) == 0.0);
}

// Requests at 0, 1 and 2 s of 4 s each: the second begins at 4, the third at 8 s.
CORE_TEST(an_exclusive_gate_serves_one_after_another) {
  ExclusiveGate gate(IoOrder::FIFO);
  EXPECT(request(gate, 1, 1, 0, 4.0, 0.0) == Keys{1});
  EXPECT(request(gate, 2, 2, 0, 4.0, 1.0).empty());
  EXPECT(request(gate, 3, 3, 0, 4.0, 2.0).empty());
  EXPECT(release(gate, 1, 4.0) == Keys{2});
  EXPECT(release(gate, 2, 8.0) == Keys{3});
  EXPECT(release(gate, 3, 12.0).empty());
  EXPECT(waited_s(gate, 1, 12.0) == 0.0);
  EXPECT(waited_s(gate, 2, 12.0) == 3.0);
  EXPECT(waited_s(gate, 3, 12.0) == 6.0);
}

// 1 requested first, 2 is shortest, 3 waited 30 s before, 4's 11 s of life were half waiting.
CORE_TEST(each_order_picks_its_turn) {
  const std::map<IoOrder, std::int64_t> first = {
      {IoOrder::FIFO, 1}, {IoOrder::SHORTEST, 2}, {IoOrder::STARVED, 3}, {IoOrder::STRETCH, 4}};
  for (const auto& [order, key] : first) {
    ExclusiveGate gate(order);
    for (const std::int64_t application : {1, 2, 3, 9}) gate.enter(application, 0.0);
    gate.enter(4, 89.0);
    EXPECT(request(gate, 90, 9, 0, 1.0, 0.0) == Keys{90});
    request(gate, 30, 3, 0, 1.0, 10.0);
    EXPECT(release(gate, 90, 40.0) == Keys{30});
    EXPECT(release(gate, 30, 41.0).empty());
    request(gate, 90, 9, 0, 1.0, 80.0);
    request(gate, 1, 1, 0, 9.0, 93.0);
    request(gate, 2, 2, 0, 1.0, 94.0);
    request(gate, 4, 4, 0, 9.0, 94.5);
    request(gate, 3, 3, 0, 9.0, 99.0);
    EXPECT(release(gate, 90, 100.0) == Keys{key});
  }
}

// Two turns of an application wait from 0 s, one until 3 s, the other until 5 s: it waited 5 s.
CORE_TEST(waits_at_two_nodes_count_once) {
  ExclusiveGate gate(IoOrder::FIFO);
  EXPECT(request(gate, 10, 1, 0, 1.0, 0.0) == Keys{10});
  EXPECT(request(gate, 11, 1, 1, 1.0, 0.0) == Keys{11});
  EXPECT(request(gate, 20, 2, 0, 1.0, 0.0).empty());
  EXPECT(request(gate, 21, 2, 1, 1.0, 0.0).empty());
  EXPECT(release(gate, 10, 3.0) == Keys{20});
  EXPECT(release(gate, 11, 5.0) == Keys{21});
  release(gate, 20, 6.0);
  release(gate, 21, 6.0);
  EXPECT(waited_s(gate, 2, 6.0) == 5.0);
}

CORE_TEST(misuse_of_a_gate_is_refused) {
  ExclusiveGate exclusive(IoOrder::FIFO);
  SharedGate shared;
  for (Gate* gate : {static_cast<Gate*>(&exclusive), static_cast<Gate*>(&shared)}) {
    request(*gate, 1, 1, 0, 1.0, 0.0);
    Turn again;
    again.key = 1;
    Keys begun;
    EXPECT(gate->request(again, begun) == Gate::Fault::HAS_BEGUN);
    EXPECT(gate->release(2, 0.0, begun) == Gate::Fault::NOT_BEGUN);
    Account closed;
    EXPECT(gate->leave(1, 0.0, closed) == Gate::Fault::STILL_BUSY);
  }
}

// For all requests, ends and kills: one turn per I/O node, and every turn not withdrawn begins
// once.
CORE_TEST(never_two_turns_at_once_and_none_is_lost) {
  std::mt19937_64 random(1);
  for (int world = 0; world < 400; ++world) {
    ExclusiveGate gate(static_cast<IoOrder>(world % 4));
    std::map<std::int32_t, std::int64_t> holding;
    std::set<std::int64_t> requested, begun, withdrawn;
    const auto grant = [&](const Keys& keys) {
      for (const std::int64_t key : keys) {
        const auto node = static_cast<std::int32_t>(key % 2);
        EXPECT(holding.emplace(node, key).second);
        EXPECT(begun.insert(key).second);
      }
    };
    const auto end = [&](std::int32_t node, double now_s) {
      const std::int64_t key = holding.at(node);
      holding.erase(node);
      grant(release(gate, key, now_s));
    };
    for (int step = 0; step < 60; ++step) {
      const auto who = static_cast<std::int64_t>(random() % 5);
      const auto node = static_cast<std::int32_t>(random() % 2);
      const double now_s = step;
      const std::uint64_t what = random() % 3;
      if (what == 0) {
        const std::int64_t key = 1000 * who + 2 * step + node;
        requested.insert(key);
        grant(request(gate, key, who, node, step % 7, now_s));
      } else if (what == 1 && holding.count(node)) {
        end(node, now_s);
      } else if (what == 2) {
        Keys dropped;
        gate.withdraw(who, now_s, dropped);
        withdrawn.insert(dropped.begin(), dropped.end());
        for (const std::int32_t held : {0, 1})
          if (holding.count(held) && holding.at(held) / 1000 == who) end(held, now_s);
      }
      EXPECT(gate.inconsistency()[0] == '\0');
    }
    while (!holding.empty()) end(holding.begin()->first, 1000.0);
    for (const std::int64_t key : requested) EXPECT(begun.count(key) + withdrawn.count(key) == 1);
    for (std::int64_t who = 0; who < 5; ++who) waited_s(gate, who, 1000.0);
  }
}
