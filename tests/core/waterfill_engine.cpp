#include "engines/waterfill.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"

using namespace spillway;

namespace {

/// Three hosts below one link, two below another, both below a root; a host without links, and a
/// storage host.
WaterfillEngine machine(bool whole_units) {
  IoTree tree({{400e6, -1}, {200e6, 0}, {300e6, 0}}, {1, 1, 1, 2, 2, -1, -1}, whole_units);
  std::vector<char> stores(7, 0);
  stores[6] = 1;
  return WaterfillEngine(std::vector<double>(7, 1e9), std::move(stores), std::move(tree));
}

Task stream(const std::vector<std::int32_t>& hosts, double seconds, double rate) {
  Task task;
  task.hosts = hosts;
  task.flops.assign(hosts.size(), seconds * 1e9);
  for (const std::int32_t host : hosts) task.flows.push_back({host, 6, rate * seconds});
  return task;
}

}  // namespace

CORE_TEST(waterfill_slows_who_requests_too_much) {
  WaterfillEngine engine = machine(false);
  const Handle greedy = engine.start(stream({0, 1}, 10.0, 200e6));
  const Handle modest = engine.start(stream({3}, 10.0, 100e6));
  std::vector<Handle> ended;
  engine.advance(NEVER, ended);
  EXPECT(ended == std::vector<Handle>{modest} && engine.clock_s() == 10.0);
  EXPECT(engine.progress(greedy) == 0.5);
  engine.advance(NEVER, ended);
  EXPECT(engine.clock_s() == 20.0 && engine.contended_s() == 20.0);
  Task transfer;
  transfer.hosts = {0, 6};
  transfer.flows = {{0, 6, 1e6}};
  EXPECT(engine.start(transfer) == Engine::NOT_PLAYED && engine.active() == 0);
}

CORE_TEST(waterfill_every_task_ends_or_is_cancelled_once) {
  for (const bool whole : {false, true}) {
    std::mt19937_64 random(3);
    WaterfillEngine engine = machine(whole);
    std::vector<Handle> ended;
    std::vector<int> left(500, 1);
    for (std::size_t number = 0; number < left.size(); ++number) {
      std::vector<std::int32_t> hosts;
      for (std::int32_t host = 0; host < 6; ++host) {
        if (hosts.empty() || random() % 2) hosts.push_back(host);
      }
      const auto seconds = static_cast<double>(1 + random() % 50);
      engine.start(stream(hosts, seconds, static_cast<double>(random() % 200) * 1e6));
      if (random() % 8 == 0) {
        const std::size_t victim = random() % (number + 1);
        if (engine.cancel(static_cast<Handle>(victim)) >= 0.0) --left[victim];
      }
      if (random() % 30 == 0) engine.change_speed(2, static_cast<double>(1 + random() % 3) * 1e9);
      engine.advance(engine.clock_s() + static_cast<double>(random() % 100), ended);
    }
    while (engine.active() > 0) engine.advance(NEVER, ended);
    for (const Handle handle : ended) --left[static_cast<std::size_t>(handle)];
    for (const int count : left) EXPECT(count == 0);
  }
}
